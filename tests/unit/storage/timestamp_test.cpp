// Searches by time against a scan of all records.
#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

struct reference_record {
  std::int64_t offset;
  std::int64_t timestamp_ms;
};

std::optional<reference_record> first_at_or_after(const std::vector<reference_record>& records, std::int64_t time,
                                                  std::int64_t limit) {
  for (const reference_record& record : records) {
    if (record.offset < limit && record.timestamp_ms >= time) return record;
  }
  return std::nullopt;
}

std::optional<reference_record> highest(const std::vector<reference_record>& records, std::int64_t limit) {
  std::optional<reference_record> found;
  for (const reference_record& record : records) {
    if (record.offset < limit && (!found || record.timestamp_ms > found->timestamp_ms)) found = record;
  }
  return found;
}

void expect_same(const result<std::optional<timestamp_match>>& got, const std::optional<reference_record>& expected,
                 const std::string& what) {
  ASSERT_TRUE(got) << what << ": " << got.error().to_string();
  ASSERT_EQ(got->has_value(), expected.has_value()) << what;
  if (!expected) return;
  EXPECT_EQ((*got)->offset.value(), expected->offset) << what;
  EXPECT_EQ((*got)->timestamp_ms, expected->timestamp_ms) << what;
}

TEST(Timestamps, SearchesEqualAFullScan) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    sim::rng chance(seed);
    sim::sim_file_system fs;
    log_harness harness(fs, seed);
    ASSERT_TRUE(harness.open({.segments = {.bytes = 500 + chance.below(3000)},
                              .index_interval_bytes = static_cast<std::uint32_t>(chance.below(600)),
                              .cache_bytes = chance.below(2000)}));
    std::vector<reference_record> records;
    std::vector<std::int64_t> boundaries{0};
    std::int64_t clock = 1000;
    const std::uint64_t disorder = 1 + chance.below(200);  // some logs are nearly in order, some not at all
    for (std::uint64_t i = 5 + chance.below(60); i > 0; --i) {
      std::vector<std::int64_t> times;
      for (std::uint64_t n = 1 + chance.below(5); n > 0; --n) {
        clock += static_cast<std::int64_t>(chance.below(20));
        times.push_back(clock + static_cast<std::int64_t>(chance.below(disorder)));
        records.push_back({static_cast<std::int64_t>(records.size()), times.back()});
      }
      harness.log->append(make_batch(boundaries.back(), times, 10 * times.size()));
      boundaries.push_back(static_cast<std::int64_t>(records.size()));
      if (chance.chance(0.3)) harness.loop.run_one();
    }
    if (chance.chance(0.5)) ASSERT_TRUE(harness.drain());
    for (int query = 0; query < 40; ++query) {
      const std::int64_t limit = chance.chance(0.3) ? no_limit : boundaries[chance.below(boundaries.size())];
      const std::int64_t time = chance.between(900, clock + 250);
      expect_same(harness.find(time, limit), first_at_or_after(records, time, limit),
                  fmt::format("at or after {} below {}", time, limit));
      expect_same(harness.find_max(limit), highest(records, limit), fmt::format("highest below {}", limit));
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Timestamps, OfAnEmptyLogAndOfRecordsWithoutTime) {
  sim::sim_file_system fs;
  log_harness harness(fs);
  ASSERT_TRUE(harness.open());
  EXPECT_EQ(harness.find(0, no_limit).value().has_value(), false);
  EXPECT_EQ(harness.find_max(no_limit).value().has_value(), false);
  harness.log->append(make_batch(0, std::vector<std::int64_t>{model::no_timestamp, model::no_timestamp}));
  EXPECT_EQ(harness.find(0, no_limit).value().has_value(), false);
  EXPECT_EQ(harness.find_max(no_limit).value()->offset, model::offset(0));
  EXPECT_EQ(harness.find_max(0).value().has_value(), false) << "nothing is visible";
}

TEST(Timestamps, ARecordFromTheFutureDoesNotMakeLaterSearchesReadEverything) {
  sim::sim_file_system fs;
  log_harness harness(fs);
  ASSERT_TRUE(harness.open({.cache_bytes = 0}));
  std::int64_t base = 0;
  const auto append = [&](std::int64_t time) { harness.log->append(make_batch(base++, std::vector{time}, 1000)); };
  append(50'000);
  for (int i = 0; i < 1000; ++i) append(1000 + i);
  append(60'000);
  ASSERT_TRUE(harness.drain());
  // About a megabyte lies between the two; damage in the middle of it must be of no concern to this search.
  fs.flip_bits("/data/topic-0/00000000000000000000.log", 500'000, 1);
  EXPECT_EQ(harness.find(55'000, no_limit).value()->offset, model::offset(1001));
  EXPECT_EQ(harness.find_max(no_limit).value()->offset, model::offset(1001));
}

TEST(Timestamps, SurviveAReopening) {
  sim::sim_file_system fs;
  {
    log_harness harness(fs);
    ASSERT_TRUE(harness.open({.index_interval_bytes = 100}));
    for (std::int64_t i = 0; i < 50; ++i) harness.log->append(make_batch(i, std::vector{1000 + 10 * i}));
    ASSERT_TRUE(harness.drain());
  }
  log_harness harness(fs);
  ASSERT_TRUE(harness.open({.index_interval_bytes = 100}, 40));
  EXPECT_EQ(harness.find(1205, no_limit).value()->offset, model::offset(21));
  EXPECT_EQ(harness.find(1391, no_limit).value().has_value(), false);
  EXPECT_EQ(harness.find_max(no_limit).value()->timestamp_ms, 1390);
}

}  // namespace
}  // namespace braidmq::storage

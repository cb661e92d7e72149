// A log that lets go of old records.
#include "log_fixture.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {
namespace {

const std::string trim_folder = "/data/topic-0";

class TrimTest : public testing::Test {
 protected:
  TrimTest() {
    options_.segments.bytes = 2 * make_batch(0, 3).data.size();
    EXPECT_TRUE(harness_.open(options_));
  }

  void append(int count) {
    for (int i = 0; i < count; ++i) {
      harness_.log->append(make_batch(harness_.log->end_offset().value(), 3));
    }
  }
  std::size_t log_files() {
    const auto names = fs_.list(trim_folder).value();
    std::size_t count = 0;
    for (const std::string& name : names) count += name.ends_with(".log") ? 1 : 0;
    return count;
  }
  model::offset retained(std::optional<std::int64_t> oldest_ms, std::optional<std::uint64_t> max_bytes) {
    return harness_.log->retained_start(oldest_ms, max_bytes);
  }

  sim::sim_file_system fs_;
  log_harness harness_{fs_};
  log_options options_{.cache_bytes = 0};
};

TEST_F(TrimTest, ReadersSeeNothingBelowTheStartAndFilesGoWhenTheyMay) {
  append(8);  // four segments of two batches of three records
  ASSERT_TRUE(harness_.drain());
  harness_.log->trim(model::offset(14));
  EXPECT_EQ(harness_.log->start_offset().value(), 14);
  EXPECT_EQ(harness_.log->trimmed_segments(), 2U) << "12 and 13 stay in their segment";
  EXPECT_EQ(harness_.read(13, no_limit, 1U << 20U).error().code, errc::offset_out_of_range);
  EXPECT_EQ(bases(*harness_.read(14, no_limit, 1U << 20U)), (std::vector<std::int64_t>{12, 15, 18, 21}));
  EXPECT_EQ(log_files(), 4U) << "a checkpoint may speak of them";
  harness_.log->remove_trimmed(1);
  harness_.loop.run_until_idle();
  EXPECT_EQ(log_files(), 3U);
  harness_.log->remove_trimmed(2);
  harness_.log->remove_trimmed(2);
  harness_.loop.run_until_idle();
  EXPECT_EQ(log_files(), 2U);
  EXPECT_TRUE(harness_.failures.empty());
}

TEST_F(TrimTest, TheLastSegmentMayGoAndTheLogGoesOnAtItsEnd) {
  append(3);
  ASSERT_TRUE(harness_.drain());
  harness_.log->trim(model::offset(9));
  EXPECT_EQ(harness_.log->trimmed_segments(), 2U);
  EXPECT_EQ(harness_.log->size_bytes(), 0U);
  EXPECT_EQ(harness_.log->end_offset().value(), 9);
  EXPECT_TRUE(harness_.read(9, no_limit, 1U << 20U)->empty());
  harness_.log->remove_trimmed(2);
  append(3);
  ASSERT_TRUE(harness_.drain());
  EXPECT_EQ(bases(*harness_.read(9, no_limit, 1U << 20U)), (std::vector<std::int64_t>{9, 12, 15}));
  EXPECT_EQ(log_files(), 2U);
}

TEST_F(TrimTest, BytesThatAreOnTheirWayAreWrittenFirst) {
  for (int written = 0; written < 12; ++written) {
    SCOPED_TRACE(written);
    sim::sim_file_system fs(3);
    log_harness harness(fs, 7);
    ASSERT_TRUE(harness.open(options_));
    for (int i = 0; i < 8; ++i) harness.log->append(make_batch(i * 3, 3));
    for (int i = 0; i < written; ++i) static_cast<void>(harness.loop.run_one());
    harness.log->trim(model::offset(18));
    for (int i = 8; i < 12; ++i) harness.log->append(make_batch(i * 3, 3));
    ASSERT_TRUE(harness.drain());
    EXPECT_EQ(harness.log->trimmed_segments(), 3U);
    EXPECT_EQ(bases(*harness.read(18, no_limit, 1U << 20U)), (std::vector<std::int64_t>{18, 21, 24, 27, 30, 33}));
  }
}

TEST_F(TrimTest, ComesBackFromACheckpointWithItsStart) {
  append(8);
  harness_.log->trim(model::offset(14));
  const log_manifest manifest = harness_.log->pin().manifest;
  ASSERT_TRUE(harness_.drain());
  EXPECT_EQ(manifest.start.value(), 14);
  harness_.log.reset();
  fs_.kill_process();
  log_harness again(fs_);
  auto opened = partition_log::open(fs_, again.disk, again.owner, trim_folder, options_, manifest, again.callbacks());
  ASSERT_TRUE(opened) << opened.error().to_string();
  again.log = std::move(*opened);
  EXPECT_EQ(again.log->start_offset().value(), 14);
  EXPECT_EQ(bases(*again.read(14, no_limit, 1U << 20U)), (std::vector<std::int64_t>{12, 15, 18, 21}));
}

TEST_F(TrimTest, RetentionCountsWholeSegments) {
  append(8);  // times are 1000 plus the offset; segments begin at 0, 6, 12, 18
  const std::uint64_t segment_bytes = options_.segments.bytes;
  EXPECT_EQ(retained(std::nullopt, std::nullopt).value(), 0);
  EXPECT_EQ(retained(1003, std::nullopt).value(), 0) << "a record of the first segment is not older";
  EXPECT_EQ(retained(1004, std::nullopt).value(), 6);
  EXPECT_EQ(retained(5000, std::nullopt).value(), 24) << "all of it";
  EXPECT_EQ(retained(std::nullopt, 4 * segment_bytes).value(), 0);
  EXPECT_EQ(retained(std::nullopt, 3 * segment_bytes + 1).value(), 0) << "what is left would be less than is kept";
  EXPECT_EQ(retained(std::nullopt, 3 * segment_bytes).value(), 6);
  EXPECT_EQ(retained(std::nullopt, 0).value(), 24);
  ASSERT_TRUE(harness_.drain());
  harness_.log->trim(model::offset(8));
  EXPECT_EQ(retained(1004, std::nullopt).value(), 8) << "never back";
}

TEST_F(TrimTest, ASegmentEndsBeforeARecordThatIsMuchYounger) {
  options_.segments.bytes = 1U << 20U;
  options_.segments.ms = 1000;
  ASSERT_TRUE(harness_.open(options_));
  harness_.log->append(make_batch(0, std::vector<std::int64_t>{5000}));
  harness_.log->append(make_batch(1, std::vector<std::int64_t>{6000}));
  harness_.log->append(make_batch(2, std::vector<std::int64_t>{10}));
  harness_.log->append(make_batch(3, std::vector<std::int64_t>{6001}));
  const log_manifest manifest = harness_.log->pin().manifest;
  ASSERT_EQ(manifest.segments.size(), 2U);
  EXPECT_EQ(manifest.segments[1].base.value(), 3);
}

}  // namespace
}  // namespace braidmq::storage

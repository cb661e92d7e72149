#include "storage/partition_log.hpp"

#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

class PartitionLogTest : public testing::Test {
 protected:
  void open(log_options options = {}) { ASSERT_TRUE(harness_.open(options)); }
  partition_log& log() { return *harness_.log; }

  // Ten batches of three records: 0, 3, .. 27.
  void append_ten(std::size_t value_bytes = 20) {
    for (std::int64_t i = 0; i < 10; ++i) log().append(make_batch(i * 3, 3, value_bytes));
  }
  std::vector<std::int64_t> read(std::int64_t from, std::int64_t limit, std::size_t max_bytes,
                                 bool at_least_one = true) {
    auto got = harness_.read(from, limit, max_bytes, at_least_one);
    EXPECT_TRUE(got) << got.error().to_string();
    return got ? bases(*got) : std::vector<std::int64_t>{-1};
  }
  std::vector<std::string> files() { return fs_.list("/data/topic-0").value(); }

  sim::sim_file_system fs_;
  log_harness harness_{fs_};
};

using offsets = std::vector<std::int64_t>;

TEST(PartitionLogBudget, LogsShareTheMemoryOfTheirTails) {
  sim::sim_file_system fs;
  log_options options{.cache_bytes = 1U << 20U};
  options.cache = std::make_shared<cache_budget>(cache_budget{.max_bytes = 4000});
  log_harness harness(fs);
  ASSERT_TRUE(harness.open(options));
  for (int i = 0; i < 20; ++i) {
    harness.log->append(make_batch(i, 1, 1000));
    ASSERT_TRUE(harness.drain());
    EXPECT_LE(options.cache->used_bytes, 4000U);
  }
  EXPECT_GT(options.cache->used_bytes, 0U);
}

TEST_F(PartitionLogTest, ANewLogIsEmptyAndHasNoFile) {
  open();
  EXPECT_EQ(log().start_offset(), model::offset(0));
  EXPECT_EQ(log().end_offset(), model::offset(0));
  EXPECT_EQ(log().size_bytes(), 0U);
  EXPECT_EQ(read(0, no_limit, 1000), offsets{});
  EXPECT_TRUE(harness_.drain());
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(PartitionLogTest, ReadsTheSameFromMemoryFromFilesAndFromBoth) {
  // The cache bound decides how many written batches a read finds in memory: none, some, all.
  const std::size_t batch_bytes = make_batch(0, 3).data.size();
  for (const std::size_t cache_bytes : {std::size_t{0}, 4 * batch_bytes, std::size_t{1} << 20U}) {
    sim::sim_file_system fs;
    log_harness harness(fs);
    ASSERT_TRUE(harness.open({.cache_bytes = cache_bytes}));
    const auto check = [&] {
      EXPECT_EQ(bases(*harness.read(0, no_limit, 1U << 20U)), (offsets{0, 3, 6, 9, 12, 15, 18, 21, 24, 27}));
      EXPECT_EQ(bases(*harness.read(4, no_limit, 1U << 20U)), (offsets{3, 6, 9, 12, 15, 18, 21, 24, 27}));
      EXPECT_EQ(bases(*harness.read(29, no_limit, 1U << 20U)), (offsets{27})) << "the last offset of the last batch";
      EXPECT_EQ(bases(*harness.read(30, no_limit, 1U << 20U)), offsets{}) << "the end";
      EXPECT_EQ(bases(*harness.read(5, 12, 1U << 20U)), (offsets{3, 6, 9})) << "limit at a batch";
      EXPECT_EQ(bases(*harness.read(5, 13, 1U << 20U)), (offsets{3, 6, 9, 12})) << "limit inside a batch";
      EXPECT_EQ(bases(*harness.read(5, 5, 1U << 20U)), offsets{});
      EXPECT_EQ(bases(*harness.read(5, 2, 1U << 20U)), offsets{});
      EXPECT_EQ(bases(*harness.read(0, no_limit, 3 * batch_bytes)), (offsets{0, 3, 6}));
      EXPECT_EQ(bases(*harness.read(0, no_limit, 3 * batch_bytes - 1)), (offsets{0, 3}));
      EXPECT_EQ(bases(*harness.read(8, no_limit, 1)), (offsets{6})) << "at least one";
      EXPECT_EQ(bases(*harness.read(8, no_limit, 1, false)), offsets{});
      EXPECT_EQ(bases(*harness.read(8, no_limit, batch_bytes, false)), offsets{6});
      EXPECT_EQ(bases(*harness.read(8, no_limit, 0)), offsets{6});
    };
    for (std::int64_t i = 0; i < 10; ++i) harness.log->append(make_batch(i * 3, 3));
    check();
    ASSERT_TRUE(harness.drain());
    check();
  }
}

TEST_F(PartitionLogTest, RefusesOffsetsOutsideTheLog) {
  open();
  log().append(make_batch(100, 5));
  EXPECT_EQ(log().start_offset(), model::offset(100)) << "an empty log starts with its first batch";
  EXPECT_EQ(log().end_offset(), model::offset(105));
  EXPECT_EQ(harness_.read(99, no_limit, 10).error().code, errc::offset_out_of_range);
  EXPECT_EQ(harness_.read(106, no_limit, 10).error().code, errc::offset_out_of_range);
  EXPECT_EQ(harness_.read(-1, no_limit, 10).error().code, errc::offset_out_of_range);
  EXPECT_EQ(read(105, no_limit, 10), offsets{});
}

TEST_F(PartitionLogTest, AReadThatRacesWithWriteBehindSeesTheLogOfItsCall) {
  open({.cache_bytes = 0});
  append_ten();
  const auto whole = log_harness::slot<std::vector<bytes>>();
  log().read({model::offset(0), model::offset(no_limit), 1U << 20U, true},
             [whole](auto value) { whole->emplace(std::move(value)); });
  harness_.loop.run_until_idle();
  EXPECT_EQ(bases(**whole->operator->()), (offsets{0, 3, 6, 9, 12, 15, 18, 21, 24, 27})) << "from memory";

  // Now from the files for the first part and from memory for the second, while a write of that part is under way.
  for (std::int64_t i = 10; i < 20; ++i) log().append(make_batch(i * 3, 3));
  const auto mixed = log_harness::slot<std::vector<bytes>>();
  log().read({model::offset(25), model::offset(no_limit), 1U << 20U, true},
             [mixed](auto value) { mixed->emplace(std::move(value)); });
  log().append(make_batch(60, 3));
  harness_.loop.run_until_idle();
  EXPECT_EQ(bases(**mixed->operator->()), (offsets{24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57}))
      << "nothing that was appended after the call";
}

TEST_F(PartitionLogTest, RollsWithoutSplittingABatch) {
  const std::size_t batch_bytes = make_batch(0, 3).data.size();
  open({.segments = {.bytes = 3 * batch_bytes + 1}, .index_interval_bytes = 1, .cache_bytes = 0});
  append_ten();
  log().append(make_batch(30, 1, 5 * batch_bytes));
  log().append(make_batch(31, 1));
  ASSERT_TRUE(harness_.drain());
  std::vector<std::string> logs;
  for (const std::string& name : files()) {
    if (name.ends_with(".log")) logs.push_back(name.substr(18));
  }
  EXPECT_EQ(logs, (std::vector<std::string>{"00.log", "09.log", "18.log", "27.log", "30.log", "31.log"}))
      << "a batch above the segment size has a segment of its own";
  EXPECT_EQ(read(10, no_limit, 1U << 20U), (offsets{9, 12, 15, 18, 21, 24, 27, 30, 31})) << "over all files";
  EXPECT_EQ(read(16, 27, 1U << 20U), (offsets{15, 18, 21, 24}));
  EXPECT_EQ(log().size_bytes(), 11 * batch_bytes + make_batch(30, 1, 5 * batch_bytes).data.size() -
                                    (batch_bytes - make_batch(31, 1).data.size()));
}

TEST_F(PartitionLogTest, CountsPendingBytesUntilTheirWriteIsReported) {
  open();
  std::size_t expected = 0;
  EXPECT_EQ(log().pending_bytes(), 0U);
  for (std::int64_t i = 0; i < 10; ++i) {
    stored_batch batch = make_batch(i * 3, 3, 100 * static_cast<std::size_t>(i + 1));
    expected += batch.data.size();
    log().append(std::move(batch));
    EXPECT_EQ(log().pending_bytes(), expected);
    EXPECT_EQ(log().size_bytes(), expected);
  }
  ASSERT_TRUE(harness_.loop.run_one(harness_.disk)) << "the write ends on the disk";
  EXPECT_EQ(log().pending_bytes(), expected) << "which the owner does not know yet";
  ASSERT_TRUE(harness_.loop.run_one(harness_.owner));
  EXPECT_EQ(log().pending_bytes(), expected - make_batch(0, 3, 100).data.size()) << "the first task had one batch";
  ASSERT_TRUE(harness_.drain());
  EXPECT_EQ(log().pending_bytes(), 0U);
  EXPECT_EQ(log().size_bytes(), expected);
}

TEST_F(PartitionLogTest, CoalescesWhatWaitsIntoOneWriteUpToTheBound) {
  open({.index_interval_bytes = 1U << 30U});
  append_ten();
  ASSERT_TRUE(harness_.drain());
  EXPECT_EQ(fs_.operations().writes, 2U) << "the first batch, then the nine that waited for it";
  EXPECT_EQ(fs_.operations().data_syncs, 0U) << "nothing here is synced";

  sim::sim_file_system other;
  log_harness bounded(other);
  const std::size_t batch_bytes = make_batch(0, 3).data.size();
  ASSERT_TRUE(bounded.open({.index_interval_bytes = 1U << 30U, .write_bytes = 3 * batch_bytes}));
  for (std::int64_t i = 0; i < 10; ++i) bounded.log->append(make_batch(i * 3, 3));
  ASSERT_TRUE(bounded.drain());
  EXPECT_EQ(other.operations().writes, 4U) << "one, then three times three";
}

TEST_F(PartitionLogTest, DrainWaitsForWhatWasAppendedBeforeItAndNotForMore) {
  open();
  std::string trace;
  log().append(make_batch(0, 3));
  log().drain([&](status done) { trace += done ? "a" : "!"; });
  log().append(make_batch(3, 3));
  log().drain([&](status done) { trace += done ? "b" : "!"; });
  EXPECT_EQ(trace, "");
  harness_.loop.run_one(harness_.disk);
  harness_.loop.run_one(harness_.owner);
  EXPECT_EQ(trace, "a");
  harness_.loop.run_until_idle();
  EXPECT_EQ(trace, "ab");
}

TEST_F(PartitionLogTest, AFailedWriteIsToldOnceAndIsFinal) {
  open();
  fs_.fail_next(sim::operation::write, "*.log", io::errc::no_space);
  append_ten();
  std::vector<std::error_code> drained;
  log().drain([&](status done) { drained.push_back(done ? std::error_code() : done.error().code); });
  harness_.loop.run_until_idle();
  ASSERT_EQ(harness_.failures.size(), 1U);
  EXPECT_EQ(harness_.failures[0].code, io::errc::no_space);
  EXPECT_NE(harness_.failures[0].message.find("/data/topic-0"), std::string::npos);
  EXPECT_EQ(drained, (std::vector<std::error_code>{errc::failed}));
  const auto writes = fs_.operations().writes;
  log().append(make_batch(30, 3));
  EXPECT_EQ(harness_.drain().error().code, errc::failed);
  EXPECT_EQ(fs_.operations().writes, writes) << "never tried again";
  EXPECT_EQ(harness_.failures.size(), 1U);
  EXPECT_EQ(read(0, no_limit, 1U << 20U).size(), 11U) << "what is in memory can still be read";
}

TEST_F(PartitionLogTest, AnErrorOfTheDiskIsTheAnswerOfTheRead) {
  open({.cache_bytes = 0});
  append_ten();
  ASSERT_TRUE(harness_.drain());
  fs_.fail_next(sim::operation::read, "*.log", io::errc::device_error);
  EXPECT_EQ(harness_.read(0, no_limit, 1000).error().code, io::errc::device_error);
  EXPECT_EQ(read(0, no_limit, 1), offsets{0});
}

TEST_F(PartitionLogTest, MayBeDestroyedWhileTasksAreUnderWay) {
  // At every moment of a run: cut the log off after `steps` tasks, then let the rest run.
  for (std::size_t steps = 0; steps < 12; ++steps) {
    sim::sim_file_system fs;
    log_harness harness(fs);
    ASSERT_TRUE(harness.open({.cache_bytes = 0}));
    harness.log->append(make_batch(0, 3));
    ASSERT_TRUE(harness.drain());
    bool alive = true;
    const auto held = std::make_shared<int>(0);
    const auto done = [&alive, held](auto) { EXPECT_TRUE(alive) << "a callback after the end of the log"; };
    for (std::int64_t i = 1; i < 5; ++i) harness.log->append(make_batch(i * 3, 3));
    harness.log->read({model::offset(0), model::offset(99), 1000, true}, done);
    harness.log->read({model::offset(14), model::offset(99), 1000, true}, done);
    harness.log->find_timestamp(0, model::offset(99), done);
    harness.log->find_max_timestamp(model::offset(7), done);
    harness.log->drain(done);
    for (std::size_t i = 0; i < steps; ++i) harness.loop.run_one();
    harness.log.reset();
    alive = false;
    EXPECT_EQ(held.use_count(), 2) << "callbacks die with the log, not later on another thread";
    harness.loop.run_until_idle();
  }
}

TEST_F(PartitionLogTest, ACallbackMayDestroyTheLog) {
  open({.cache_bytes = 0});
  append_ten();
  int drained = 0;
  for (int i = 0; i < 3; ++i) {
    log().drain([&](status) {
      ++drained;
      harness_.log.reset();
    });
  }
  harness_.loop.run_until_idle();
  EXPECT_EQ(drained, 1) << "the first took the log away, and the others with it";

  ASSERT_TRUE(harness_.open({.cache_bytes = 0}));
  append_ten();
  ASSERT_TRUE(harness_.drain());
  log().read({model::offset(0), model::offset(9), 1000, true}, [&](auto) { harness_.log.reset(); });
  harness_.loop.run_until_idle();
  EXPECT_EQ(harness_.log, nullptr);
}

TEST_F(PartitionLogTest, RefusesASegmentSizeThatPositionsCannotHold) {
  EXPECT_EQ(harness_.open({.segments = {.bytes = 1ULL << 31U}}).error().code, std::errc::invalid_argument);
  EXPECT_EQ(harness_.open({.segments = {.bytes = 0}}).error().code, std::errc::invalid_argument);
  EXPECT_TRUE(harness_.open({.segments = {.bytes = (1ULL << 31U) - 1}}));
}

TEST_F(PartitionLogTest, DiesRatherThanStoreWhatCannotBeReadBack) {
  open();
  log().append(make_batch(0, 3));
  EXPECT_DEATH(log().append(make_batch(4, 3)), "append at 4, the end is 3");
  stored_batch wrong = make_batch(3, 3);
  wrong.last = model::offset(7);
  EXPECT_DEATH(log().append(std::move(wrong)), "header says 3..5");
}

}  // namespace
}  // namespace braidmq::storage

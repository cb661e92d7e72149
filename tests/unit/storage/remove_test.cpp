// A log whose partition was deleted: what is under way ends as it would have, then the files go.
#include <gtest/gtest.h>

#include "support/sim_file_system.hpp"
#include "unit/storage/log_fixture.hpp"

namespace braidmq::storage {
namespace {

class RemoveLogTest : public ::testing::Test {
 protected:
  void remove() {
    harness_.log->remove([this](status said) { removed_ = std::move(said); });
    EXPECT_FALSE(removed_.has_value()) << "never inside the call";
  }
  void run() { harness_.loop.run_until_idle(); }
  std::size_t files() { return *fs_.exists("/data/topic-0") ? fs_.list("/data/topic-0")->size() : 0; }

  sim::sim_file_system fs_{1};
  log_harness harness_{fs_};
  std::optional<status> removed_;
};

TEST_F(RemoveLogTest, FilesAndFolderGo) {
  harness_.create({.segments = {.bytes = 300}});
  for (int i = 0; i < 20; ++i) harness_.log->append(make_batch(i * 2, 2));
  ASSERT_TRUE(harness_.drain());
  ASSERT_GT(files(), 3U);
  remove();
  run();
  ASSERT_TRUE(removed_.has_value() && removed_->has_value());
  EXPECT_FALSE(*fs_.exists("/data/topic-0"));
}

TEST_F(RemoveLogTest, ALogThatNeverWroteRemovesWhatAnEarlierLifeLeft) {
  {
    log_harness before(fs_);
    before.create();
    before.log->append(make_batch(0, 2));
    ASSERT_TRUE(before.drain());
  }
  fs_.kill_process();
  harness_.create();
  remove();
  run();
  ASSERT_TRUE(removed_.has_value() && removed_->has_value());
  EXPECT_FALSE(*fs_.exists("/data/topic-0"));
}

TEST_F(RemoveLogTest, ALogWithoutAFolderIsRemovedByDoingNothing) {
  harness_.create();
  remove();
  run();
  ASSERT_TRUE(removed_.has_value());
  EXPECT_TRUE(removed_->has_value());
}

TEST_F(RemoveLogTest, FilesOfOthersStay) {
  harness_.create();
  harness_.log->append(make_batch(0, 2));
  ASSERT_TRUE(harness_.drain());
  ASSERT_TRUE(io::write_file_atomically(fs_, "/data/topic-0/notes.txt", as_byte_view("mine")));
  remove();
  run();
  ASSERT_TRUE(removed_.has_value() && removed_->has_value());
  EXPECT_EQ(fs_.list("/data/topic-0").value(), std::vector<std::string>{"notes.txt"});
}

TEST_F(RemoveLogTest, AWriteUnderWayEndsFirstAndIsNoLongerReported) {
  harness_.create();
  harness_.log->append(make_batch(0, 2));  // its write is posted
  harness_.log->append(make_batch(2, 2));  // waits for that
  std::optional<status> drained;
  harness_.log->drain([&](status said) { drained = std::move(said); });
  remove();
  run();
  ASSERT_TRUE(removed_.has_value() && removed_->has_value());
  EXPECT_EQ(harness_.written_bytes, 0U);
  ASSERT_TRUE(drained.has_value() && !drained->has_value());
  EXPECT_EQ(drained->error().code, errc::removed);
  EXPECT_FALSE(*fs_.exists("/data/topic-0"));
}

TEST_F(RemoveLogTest, ReadsUnderWayAreAnsweredBeforeAFileGoes) {
  harness_.create({.cache_bytes = 0});
  for (int i = 0; i < 5; ++i) harness_.log->append(make_batch(i * 2, 2));
  ASSERT_TRUE(harness_.drain());
  std::optional<result<std::vector<bytes>>> read;
  std::optional<result<std::optional<timestamp_match>>> highest;
  harness_.log->read({model::offset(0), model::offset(10), 1U << 20U, true}, [&](result<std::vector<bytes>> said) {
    EXPECT_FALSE(removed_.has_value());
    read = std::move(said);
  });
  harness_.log->find_max_timestamp(model::offset(10), [&](result<std::optional<timestamp_match>> said) {
    EXPECT_FALSE(removed_.has_value());
    highest = std::move(said);
  });
  remove();
  run();
  ASSERT_TRUE(read.has_value() && read->has_value());
  EXPECT_EQ(bases(**read), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
  ASSERT_TRUE(highest.has_value() && highest->has_value()) << "which reads twice";
  EXPECT_TRUE((*highest)->has_value());
  ASSERT_TRUE(removed_.has_value() && removed_->has_value());
  EXPECT_EQ(files(), 0U);
}

TEST_F(RemoveLogTest, AFileThatCannotBeUnlinkedIsAnError) {
  harness_.create();
  harness_.log->append(make_batch(0, 2));
  ASSERT_TRUE(harness_.drain());
  fs_.fail_next(sim::operation::remove, "/data/*", io::errc::device_error);
  remove();
  run();
  ASSERT_TRUE(removed_.has_value());
  EXPECT_FALSE(removed_->has_value());
}

// Over many schedules and power cuts: whatever is left is removed by the next life's log.
TEST(RemoveLogCrash, WhatAPowerCutLeavesIsRemovedByTheNextLife) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    sim::sim_file_system fs(seed);
    sim::rng chance(seed);
    {
      log_harness before(fs, seed);
      before.create({.segments = {.bytes = 300}});
      for (int i = 0; i < 10; ++i) before.log->append(make_batch(i * 2, 2));
      for (std::uint64_t steps = chance.below(20); steps > 0 && before.loop.run_one(); --steps) {
      }
      fs.crash_after(1 + chance.below(20));
      before.log->remove([](const status&) {});
      before.loop.run_until_idle();
    }
    fs.power_cut(chance);
    log_harness after(fs, seed);
    after.create({.segments = {.bytes = 300}});
    if (chance.chance(0.5)) after.log->append(make_batch(0, 1));
    std::optional<status> removed;
    after.log->remove([&](status said) { removed = std::move(said); });
    after.loop.run_until_idle();
    ASSERT_TRUE(removed.has_value() && removed->has_value()) << "seed " << seed;
    EXPECT_FALSE(*fs.exists("/data/topic-0")) << "seed " << seed;
  }
}

}  // namespace
}  // namespace braidmq::storage

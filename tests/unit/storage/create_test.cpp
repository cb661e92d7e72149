// A log that apply makes in the middle of an entry: without a file call, over whatever an earlier life has left.
#include <gtest/gtest.h>

#include "support/sim_file_system.hpp"
#include "unit/storage/log_fixture.hpp"

namespace braidmq::storage {
namespace {

TEST(CreateLog, TouchesNoFileBeforeTheFirstWriteBehind) {
  sim::sim_file_system fs(1);
  log_harness harness(fs);
  harness.create();
  EXPECT_EQ(fs.operations().total(), 0U);
  EXPECT_EQ(harness.log->end_offset().value(), 0);
  harness.log->append(make_batch(0, 3));
  EXPECT_EQ(fs.operations().total(), 0U) << "append is memory only";
  EXPECT_EQ(bases(*harness.read(0, 3, 1 << 20)), std::vector<std::int64_t>{0}) << "and can be read";
  ASSERT_TRUE(harness.drain());
  EXPECT_TRUE(*fs.exists("/data/topic-0/00000000000000000000.log"));
}

TEST(CreateLog, ClearsTheSegmentsOfAnEarlierLifeAndLeavesForeignFilesAlone) {
  sim::sim_file_system fs(1);
  {
    log_harness before(fs);
    before.create({.segments = {.bytes = 300}});
    for (int i = 0; i < 20; ++i) before.log->append(make_batch(i * 2, 2));
    ASSERT_TRUE(before.drain());
  }
  ASSERT_TRUE(io::write_file_atomically(fs, "/data/topic-0/notes.txt", as_byte_view("mine")));
  fs.kill_process();
  log_harness after(fs);
  after.create();
  after.log->append(make_batch(0, 1));
  ASSERT_TRUE(after.drain());
  std::vector<std::string> logs;
  const std::vector<std::string> names = fs.list("/data/topic-0").value();
  for (const std::string& name : names) {
    if (name.ends_with(".log")) logs.push_back(name);
  }
  EXPECT_EQ(logs, std::vector<std::string>{"00000000000000000000.log"});
  EXPECT_TRUE(*fs.exists("/data/topic-0/notes.txt"));
  EXPECT_EQ(bases(*after.read(0, 1, 1 << 20)), std::vector<std::int64_t>{0});
}

TEST(CreateLog, EveryPendingByteIsToldWhenItIsWritten) {
  sim::sim_file_system fs(1);
  log_harness harness(fs, 7);
  harness.create({.segments = {.bytes = 500}, .write_bytes = 200});
  std::size_t appended = 0;
  for (int i = 0; i < 50; ++i) {
    stored_batch batch = make_batch(i, 1, 20 + static_cast<std::size_t>(i));
    appended += batch.data.size();
    harness.log->append(std::move(batch));
    EXPECT_EQ(harness.written_bytes + harness.log->pending_bytes(), appended);
    harness.loop.run_one();
  }
  ASSERT_TRUE(harness.drain());
  EXPECT_EQ(harness.written_bytes, appended);
  EXPECT_EQ(harness.log->pending_bytes(), 0U);
}

TEST(CreateLog, AFolderThatCannotBeMadeIsAFailureOfTheLog) {
  sim::sim_file_system fs(1);
  log_harness harness(fs);
  harness.create();
  fs.fail_next(sim::operation::make_name, "/data*", io::errc::no_space);
  harness.log->append(make_batch(0, 1));
  EXPECT_FALSE(harness.drain());
  EXPECT_EQ(harness.failures.size(), 1U);
  EXPECT_EQ(harness.written_bytes, 0U);
}

}  // namespace
}  // namespace braidmq::storage

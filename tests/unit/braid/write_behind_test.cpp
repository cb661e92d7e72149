#include "replica_fixture.hpp"

namespace braidmq::braid {
namespace {

class WriteBehindTest : public ReplicaTest {
 protected:
  std::uint64_t bytes_of(const model::topic_partition_id& id) {
    auto opened = fs_.open(fmt::format("/data/{}/00000000000000000000.log", id), io::open_mode::read);
    return opened ? (*opened)->size().value() : 0;
  }
};

TEST_F(WriteBehindTest, WriteBehindHoldsApplyBackAndLetsItGoOn) {
  options_.write_behind_max_bytes = 1000;
  life& now = start();
  now.create(orders);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(now.produce({{orders, make_batch({std::string(900, 'x')})}}));
  EXPECT_EQ(now.braid->statistics().write_behind_bytes, 0U);
  EXPECT_EQ(now.read_all(orders).size(), 20U);
}

TEST_F(WriteBehindTest, BatchesGatherBeforeTheyAreWritten) {
  life& now = start();
  now.create(orders);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(now.produce({{orders, make_batch({"x"})}}));
  const std::size_t gathered = now.braid->statistics().write_behind_bytes;
  EXPECT_GT(gathered, 0U);
  EXPECT_EQ(bytes_of(orders), 0U);
  EXPECT_EQ(now.read_all(orders).size(), 3U);
  now.pass_time(options_.write_behind_delay);
  EXPECT_EQ(bytes_of(orders), gathered);
  EXPECT_EQ(now.braid->statistics().write_behind_bytes, 0U);
  // The wait begins anew with the next batch.
  ASSERT_TRUE(now.produce({{orders, make_batch({"x"})}}));
  EXPECT_EQ(bytes_of(orders), gathered);
  now.pass_time(options_.write_behind_delay);
  EXPECT_GT(bytes_of(orders), gathered);
}

TEST_F(WriteBehindTest, WhatHasGatheredIsWrittenWhenItIsMuchAndAtAStop) {
  options_.write_behind_gathered_bytes = 2000;
  life& now = start();
  now.create(orders);
  ASSERT_TRUE(now.produce({{orders, make_batch({std::string(900, 'x')})}}));
  EXPECT_EQ(bytes_of(orders), 0U);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(now.produce({{orders, make_batch({std::string(900, 'x')})}}));
  EXPECT_GT(bytes_of(orders), 2700U);
  ASSERT_TRUE(now.produce({{orders, make_batch({std::string(900, 'x')})}}));
  now.braid->stop();
  now.run();
  EXPECT_GT(bytes_of(orders), 3600U);
}

TEST_F(WriteBehindTest, ATopicMayGoWhileItsBatchesGather) {
  life& now = start();
  now.create(orders);
  now.create(inventory);
  for (const auto& id : {orders, inventory}) ASSERT_TRUE(now.produce({{id, make_batch({"x"})}}));
  now.remove(orders);
  now.run();
  now.pass_time(options_.write_behind_delay);
  EXPECT_EQ(now.read_all(inventory).size(), 1U);
  EXPECT_EQ(now.braid->statistics().write_behind_bytes, 0U);
}

TEST_F(WriteBehindTest, ACheckpointWaitsForNoBytesThatGather) {
  options_.checkpoint.due_bytes = 100;
  life& now = start();
  now.create(orders);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(now.produce({{orders, make_batch({std::string(200, 'x')})}}));
  EXPECT_GT(now.braid->statistics().checkpoints.taken, 0U);
}

}  // namespace
}  // namespace braidmq::braid

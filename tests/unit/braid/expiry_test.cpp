// Idle producers go: the leader proposes it, apply does it, and a start comes to the same. And the level of apply,
// which the leader raises.
#include "replica_fixture.hpp"

namespace braidmq::braid {
namespace {

class ExpiryTest : public ReplicaTest {
 protected:
  ExpiryTest() {
    options_.producer_expiration = std::chrono::hours(1);
    options_.producer_expiry_interval = std::chrono::minutes(10);
    options_.checkpoint.due_after = std::chrono::hours(100);
  }

  static slice_outcome write(life& now, const model::topic_partition_id& to, std::int64_t producer,
                             std::int32_t sequence) {
    return now.produce({{to, make_batch({"v"}, idempotent(producer, 0, sequence))}})->slices.at(0);
  }
  static bool knows(life& now, const model::topic_partition_id& id, std::int64_t producer) {
    return now.braid->state().find(id)->producers().find(model::producer_id(producer)) != nullptr;
  }
  static void pass_minutes(life& now, int count) {
    for (int i = 0; i < count; ++i) now.pass_time(std::chrono::minutes(1));
  }
};

TEST_F(ExpiryTest, WhoHasNotWrittenForLongIsForgottenPartitionByPartition) {
  life* now = &start();
  now->create(orders);
  now->create(inventory);
  write(*now, orders, 7, 0);
  write(*now, orders, 8, 0);
  write(*now, inventory, 7, 0);
  pass_minutes(*now, 30);
  write(*now, orders, 8, 1);
  pass_minutes(*now, 29);
  EXPECT_TRUE(knows(*now, orders, 7)) << "59 minutes";
  EXPECT_TRUE(write(*now, orders, 7, 0).duplicate);
  pass_minutes(*now, 1);
  EXPECT_FALSE(knows(*now, orders, 7)) << "a duplicate is no writing";
  EXPECT_FALSE(knows(*now, inventory, 7));
  EXPECT_TRUE(knows(*now, orders, 8));
  EXPECT_EQ(now->braid->statistics().producers, 1U);
  EXPECT_EQ(now->braid->statistics().producers_expired, 2U);
  EXPECT_EQ(write(*now, orders, 7, 20).base.value(), 3) << "and may start anywhere";
  EXPECT_EQ(write(*now, orders, 8, 5).error, errc::out_of_order_sequence);
  const hash128 of_orders = now->braid->state().find(orders)->hash();
  const hash128 of_inventory = now->braid->state().find(inventory)->hash();

  now = &start();
  EXPECT_EQ(now->braid->state().find(orders)->hash(), of_orders);
  EXPECT_EQ(now->braid->state().find(inventory)->hash(), of_inventory);
  EXPECT_FALSE(knows(*now, inventory, 7));
  EXPECT_TRUE(write(*now, orders, 7, 20).duplicate);
}

TEST_F(ExpiryTest, ThroughACheckpoint) {
  options_.checkpoint.due_after = std::chrono::minutes(1);
  life* now = &start();
  now->create(orders);
  write(*now, orders, 7, 0);
  write(*now, orders, 8, 0);
  pass_minutes(*now, 45);
  write(*now, orders, 8, 1);
  pass_minutes(*now, 30);
  ASSERT_GE(now->braid->statistics().checkpoints.taken, 3U);
  ASSERT_FALSE(knows(*now, orders, 7));
  const hash128 before = now->braid->state().find(orders)->hash();
  now = &start();
  EXPECT_EQ(now->braid->state().find(orders)->hash(), before);
  EXPECT_EQ(now->braid->statistics().producers, 1U) << "counted anew";
  EXPECT_TRUE(write(*now, orders, 8, 1).duplicate);
}

// The clock of a life begins anew here: entries go on at the time of the last one.
TEST_F(ExpiryTest, AClockThatFellForgetsNobodyTooEarly) {
  life* now = &start();
  now->create(orders);
  pass_minutes(*now, 120);
  write(*now, orders, 7, 0);
  now = &start();
  pass_minutes(*now, 90);
  EXPECT_TRUE(knows(*now, orders, 7)) << "no entry has a time an hour after its own";
  pass_minutes(*now, 100);
  EXPECT_FALSE(knows(*now, orders, 7));
}

TEST_F(ExpiryTest, VeryManyGoInEntriesThatAreShort) {
  constexpr std::int64_t count = 6000;
  life& now = start();
  now.create(orders);
  now.create(inventory);
  for (std::int64_t from = 0; from < count; from += 1000) {
    std::vector<append_slice> slices;
    for (std::int64_t i = from; i < from + 1000; ++i) {
      slices.push_back({i % 4 == 0 ? inventory : orders, make_batch({"v"}, idempotent(i, 0, 0))});
    }
    ASSERT_TRUE(now.produce(std::move(slices)));
  }
  EXPECT_EQ(now.braid->statistics().producers, static_cast<std::size_t>(count));
  now.pass_time(std::chrono::minutes(9));
  const auto before = now.braid->statistics();
  now.pass_time(std::chrono::minutes(51));  // one look, when it ends: nothing fires for time that did not run
  const auto after = now.braid->statistics();
  EXPECT_EQ(after.producers, 0U);
  EXPECT_EQ(after.producers_expired, static_cast<std::uint64_t>(count));
  EXPECT_GE(after.entries_applied - before.entries_applied, 6U) << "of 1,024 producers at most";
  EXPECT_LE(after.entries_applied - before.entries_applied, 8U) << "and each was named once";
}

TEST_F(ExpiryTest, WithoutABoundNobodyIsForgotten) {
  options_.producer_expiration.reset();
  life& now = start();
  now.create(orders);
  write(now, orders, 7, 0);
  now.pass_time(std::chrono::hours(1000));
  now.braid->expire_producers();
  now.run();
  EXPECT_TRUE(knows(now, orders, 7));
}

class LevelTest : public ReplicaTest {};

TEST_F(LevelTest, TheLeaderRaisesItOnceToTheNewestThatItKnows) {
  life* now = &start();
  EXPECT_EQ(now->braid->statistics().apply_level, newest_apply_level);
  EXPECT_EQ(now->braid->state().applied_index(), raft::index(2)) << "its first entry, and the level";
  now = &start();
  EXPECT_EQ(now->braid->state().applied_index(), raft::index(3)) << "there is nothing to raise";
  options_.newest_apply_level = newest_apply_level + 1;
  now = &start();
  EXPECT_EQ(now->braid->statistics().apply_level, newest_apply_level + 1);
  EXPECT_EQ(now->braid->state().applied_index(), raft::index(5));
}

TEST_F(LevelTest, AReplicaThatDoesNotKnowItStopsWithWords) {
  life* now = &start();
  now->create(orders);
  ASSERT_TRUE(now->produce({{orders, make_batch({"a"})}}));
  options_.newest_apply_level = newest_apply_level + 1;
  now = &start();
  ASSERT_TRUE(now->produce({{orders, make_batch({"b"})}}));
  options_.newest_apply_level = newest_apply_level;
  now = &start();
  ASSERT_EQ(now->fatal.size(), 1U);
  EXPECT_THAT(now->fatal[0], ::testing::HasSubstr("has apply level 2, this version knows 1: start the later version"));
  EXPECT_FALSE(now->braid->statistics().serves);
  EXPECT_EQ(now->produce({{orders, make_batch({"c"})}}).error().code, errc::storage_failed);
  options_.newest_apply_level = newest_apply_level + 1;
  now = &start();
  EXPECT_EQ(now->read_all(orders).size(), 2U) << "nothing was lost by it";
}

}  // namespace
}  // namespace braidmq::braid

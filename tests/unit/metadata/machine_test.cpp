#include "metadata/machine.hpp"

#include <gtest/gtest.h>

#include "unit/metadata/ids.hpp"

namespace braidmq::metadata {
namespace {

class MetadataMachineTest : public ::testing::Test {
 protected:
  outcome apply(const command& what) {
    raft::entry entry;
    entry.index = raft::index(machine_.current()->index() + 1);
    entry.payload = encode(what);
    return machine_.apply(entry);
  }

  machine machine_;
};

TEST_F(MetadataMachineTest, AClusterIsFoundedOnce) {
  apply(found_cluster{id_of(1)});
  apply(found_cluster{id_of(2)});
  EXPECT_EQ(machine_.current()->cluster_id(), id_of(1));
}

TEST_F(MetadataMachineTest, AClaimedBrokerIdStaysWithItsIncarnation) {
  EXPECT_FALSE(apply(register_broker{model::broker_id(0), {id_of(1), false, {}}}).error);
  EXPECT_EQ(apply(register_broker{model::broker_id(0), {id_of(2), true, {}}}).error, errc::broker_id_claimed);
  EXPECT_EQ(machine_.current()->brokers().at(model::broker_id(0)), (broker_registration{id_of(1), false, {}}));
}

TEST_F(MetadataMachineTest, TheSameLifeReplacesWhatItSaid) {
  const model::broker_id id(0);
  apply(register_broker{id, {id_of(1), true, {{"A", "a.example", 1}, {"B", "b.example", 2}}}});
  EXPECT_TRUE(machine_.current()->brokers().at(id).draining);
  EXPECT_EQ(machine_.current()->brokers().at(id).find("B")->port, 2);
  EXPECT_EQ(machine_.current()->brokers().at(id).find("C"), nullptr);
  apply(register_broker{id, {id_of(1), false, {{"A", "other.example", 3}}}});
  EXPECT_EQ(machine_.current()->brokers().at(id), (broker_registration{id_of(1), false, {{"A", "other.example", 3}}}));
}

TEST_F(MetadataMachineTest, TopicsAreFoundByNameAndIdAndNamesAreUnique) {
  const outcome first = apply(create_topic{"orders", id_of(1), 3, {{"k", "v"}}});
  ASSERT_FALSE(first.error);
  const image_ptr image = machine_.current();
  EXPECT_EQ(image->find("orders"), image->find(id_of(1)));
  EXPECT_EQ(image->find("orders")->partitions, 3);
  EXPECT_EQ(image->find("orders")->created_index, 1U);
  EXPECT_EQ(image->find("orders")->changed_index, 1U);
  const outcome again = apply(create_topic{"orders", id_of(2), 5, {}});
  EXPECT_EQ(again.error, errc::topic_exists);
  EXPECT_EQ(again.topic->id, id_of(1));
  EXPECT_EQ(machine_.current()->find(id_of(2)), nullptr);
}

TEST_F(MetadataMachineTest, ATopicGrowsAndItsConfigsChangeInOneStep) {
  apply(create_topic{"orders", id_of(1), 3, {{"a", "1"}, {"b", "2"}}});
  const outcome changed = apply(alter_topic{id_of(1), 5, {{"a", "9"}, {"b", std::nullopt}, {"c", "3"}}});
  ASSERT_FALSE(changed.error);
  const image_ptr image = machine_.current();
  EXPECT_EQ(image->find("orders"), image->find(id_of(1)));
  EXPECT_EQ(image->find("orders")->partitions, 5);
  EXPECT_EQ(image->find("orders")->configs, (std::map<std::string, std::string>{{"a", "9"}, {"c", "3"}}));
  EXPECT_EQ(image->find("orders")->created_index, 1U);
  EXPECT_EQ(image->find("orders")->changed_index, 2U);
  EXPECT_EQ(image->topics_index(), 2U);
}

TEST_F(MetadataMachineTest, WhatIsSoAlreadyChangesNothing) {
  apply(create_topic{"orders", id_of(1), 3, {{"a", "1"}}});
  const auto before = machine_.current()->topics().at("orders");
  EXPECT_EQ(apply(alter_topic{id_of(1), 3, {{"a", "1"}, {"b", std::nullopt}}}).topic, before);
  EXPECT_EQ(apply(alter_topic{id_of(1), 0, {}}).topic, before);
  EXPECT_EQ(machine_.current()->find("orders")->changed_index, 1U);
  EXPECT_EQ(machine_.current()->topics_index(), 1U);
}

TEST_F(MetadataMachineTest, PartitionsOnlyGrowAndARefusedChangeChangesNothing) {
  apply(create_topic{"orders", id_of(1), 3, {}});
  EXPECT_EQ(apply(alter_topic{id_of(1), 2, {{"a", "1"}}}).error, errc::invalid_partitions);
  EXPECT_TRUE(machine_.current()->find("orders")->configs.empty());
  EXPECT_EQ(apply(alter_topic{id_of(2), 9, {}}).error, errc::unknown_topic_id);
}

TEST_F(MetadataMachineTest, ADeletedTopicLeavesNothingAndItsNameIsFree) {
  apply(create_topic{"a.b", id_of(1), 1, {}});
  const outcome gone = apply(delete_topic{id_of(1)});
  ASSERT_FALSE(gone.error);
  EXPECT_EQ(gone.topic->name, "a.b");
  EXPECT_EQ(machine_.current()->find("a.b"), nullptr);
  EXPECT_EQ(machine_.current()->find(id_of(1)), nullptr);
  EXPECT_EQ(machine_.current()->find_collision("a_b"), nullptr) << "the name in metrics is free, too";
  EXPECT_EQ(machine_.current()->topics_index(), 2U);
  EXPECT_EQ(apply(delete_topic{id_of(1)}).error, errc::unknown_topic_id);
  EXPECT_EQ(apply(alter_topic{id_of(1), 5, {}}).error, errc::unknown_topic_id);
  EXPECT_FALSE(apply(create_topic{"a_b", id_of(2), 1, {}}).error);
}

TEST_F(MetadataMachineTest, NamesThatWouldShareTheirMetricsCollide) {
  apply(create_topic{"a.b", id_of(1), 1, {}});
  EXPECT_EQ(apply(create_topic{"a_b", id_of(2), 1, {}}).error, errc::name_collision);
  EXPECT_FALSE(apply(create_topic{"a-b", id_of(3), 1, {}}).error);
  EXPECT_EQ(machine_.current()->find_collision("a_b")->name, "a.b");
  EXPECT_EQ(machine_.current()->find_collision("a.b"), nullptr);
}

TEST_F(MetadataMachineTest, ProducerIdBlocksNeverOverlap) {
  std::int64_t next = 0;
  for (int i = 0; i < 5; ++i) {
    const outcome block = apply(allocate_producer_ids{model::broker_id(0)});
    EXPECT_EQ(block.producer_ids.first.value(), next);
    next += block.producer_ids.count;
  }
  EXPECT_EQ(machine_.current()->next_producer_id(), next);
}

TEST_F(MetadataMachineTest, AnImageIsNotTouchedByLaterEntries) {
  const image_ptr before = machine_.current();
  apply(create_topic{"orders", id_of(1), 3, {}});
  EXPECT_EQ(before->find("orders"), nullptr);
  EXPECT_EQ(before->index(), 0U);
}

}  // namespace
}  // namespace braidmq::metadata

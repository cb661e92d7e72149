#include "braid/aggregator.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/batches.hpp"

namespace braidmq::braid {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t payload_bytes = 1000;

produce_unit unit_of(std::size_t batch_bytes) {
  produce_unit unit;
  unit.slices.push_back({sim::partition_of(1, 0), bytes::copy_of(std::string(batch_bytes, 'x'))});
  return unit;
}

std::vector<std::uint64_t> ids(const std::vector<request_id>& requests) {
  std::vector<std::uint64_t> values;
  for (const request_id id : requests) values.push_back(id.value());
  return values;
}

class AggregatorTest : public ::testing::Test {
 protected:
  void add(std::uint64_t id, std::size_t size) {
    queue_.add(request_id(id), unit_of(size), [this, id] { accepted_.push_back(id); });
  }

  aggregator queue_{{.entry_target_bytes = 5 * payload_bytes,
                     .entry_max_bytes = 50 * payload_bytes,
                     .queue_max_bytes = 8 * payload_bytes}};
  std::vector<std::uint64_t> accepted_;
};

TEST_F(AggregatorTest, EverythingThatWaitsGoesIntoOneEntryInOrder) {
  for (std::uint64_t id = 1; id <= 3; ++id) add(id, payload_bytes);
  EXPECT_THAT(accepted_, ElementsAre(1, 2, 3));
  const auto entry = queue_.build();
  ASSERT_TRUE(entry);
  EXPECT_THAT(ids(entry->requests), ElementsAre(1, 2, 3));
  EXPECT_EQ(entry->command.units.size(), 3U);
  EXPECT_TRUE(queue_.empty());
  EXPECT_FALSE(queue_.build());
}

TEST_F(AggregatorTest, AnEntryIsClosedAtTheTargetAndARequestIsNeverSplit) {
  add(1, 3 * payload_bytes);
  add(2, 3 * payload_bytes);
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(1));
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(2));
}

TEST_F(AggregatorTest, ARequestBeyondTheTargetGoesAlone) {
  add(1, 20 * payload_bytes);
  add(2, 1);
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(1));
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(2));
}

TEST_F(AggregatorTest, BeyondTheBoundARequestIsAcceptedWhenThereIsRoomAndNotBefore) {
  add(1, 4 * payload_bytes);
  add(2, 3 * payload_bytes);
  add(3, 2 * payload_bytes);
  add(4, 1);
  EXPECT_THAT(accepted_, ElementsAre(1, 2)) << "4 would fit, but must not overtake 3";
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(1)) << "1 and 2 are beyond the target together";
  EXPECT_THAT(accepted_, ElementsAre(1, 2, 3, 4));
}

TEST_F(AggregatorTest, WhatIsNotAcceptedIsNotBuilt) {
  add(1, 8 * payload_bytes);
  add(2, 8 * payload_bytes);
  EXPECT_THAT(ids(queue_.build()->requests), ElementsAre(1));
  EXPECT_THAT(accepted_, ElementsAre(1, 2));
}

topic_change creation_of(std::uint8_t topic, std::int32_t partitions) {
  topic_change change{sim::partition_of(topic, 0).topic, {}, std::nullopt, std::nullopt};
  for (std::int32_t p = 0; p < partitions; ++p) change.creations.push_back({sim::partition_of(topic, p), 0, 7});
  return change;
}

TEST_F(AggregatorTest, ChangesOfTopicsGoFirst) {
  add(1, payload_bytes);
  queue_.add(creation_of(1, 2));
  const auto topic = sim::partition_of(2, 0).topic;
  queue_.add({topic, {}, topic_config{topic, 8, {}}, topic_deletion{topic, 9}});
  const auto entry = queue_.build();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->command.creations.size(), 2U);
  EXPECT_EQ(entry->command.configs.size(), 1U);
  EXPECT_EQ(entry->command.deletions.size(), 1U);
  EXPECT_THAT(entry->topics, ElementsAre(sim::partition_of(1, 0).topic, topic));
  EXPECT_THAT(ids(entry->requests), ElementsAre(1));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(AggregatorTest, ChangesAreBoundedByTheTargetToo) {
  for (std::uint8_t topic = 1; topic <= 3; ++topic) queue_.add(creation_of(topic, 100));
  const auto entry = queue_.build();
  EXPECT_EQ(entry->topics.size(), 1U) << "100 creations take more than half of the target";
  EXPECT_EQ(queue_.build()->topics.size(), 1U);
  EXPECT_EQ(queue_.build()->topics.size(), 1U);
  EXPECT_FALSE(queue_.build());
}

TEST_F(AggregatorTest, ALevelIsSaidOnceAndFirst) {
  queue_.set_level(2);
  EXPECT_FALSE(queue_.empty());
  add(1, payload_bytes);
  const auto entry = queue_.build();
  EXPECT_EQ(entry->command.apply_level, 2);
  EXPECT_THAT(ids(entry->requests), ElementsAre(1));
  EXPECT_TRUE(queue_.empty());
  add(2, payload_bytes);
  EXPECT_EQ(queue_.build()->command.apply_level, 0);
}

TEST_F(AggregatorTest, AnEntryForgetsAFewProducersOnly) {
  aggregator queue({.entry_expiries = 10});
  const auto producers = [](std::int64_t first, std::int64_t count) {
    std::vector<model::producer_id> all;
    for (std::int64_t i = 0; i < count; ++i) all.emplace_back(first + i);
    return all;
  };
  queue.add({sim::partition_of(1, 0), 5, {}});
  EXPECT_TRUE(queue.empty()) << "nobody to forget";
  queue.add({sim::partition_of(1, 0), 5, producers(0, 7)});
  queue.add({sim::partition_of(1, 1), 6, producers(100, 16)});
  std::set<model::producer_id> first;
  std::set<model::producer_id> second;
  for (int entries = 0; !queue.empty(); ++entries) {
    const auto entry = queue.build();
    std::size_t count = 0;
    for (const producer_expiry& one : entry->command.expiries) {
      EXPECT_EQ(one.idle_since_ms, 5 + one.target.partition.value());
      count += one.producers.size();
      (one.target.partition.value() == 0 ? first : second).insert(one.producers.begin(), one.producers.end());
    }
    EXPECT_EQ(count, entries < 2 ? 10U : 3U);
  }
  EXPECT_EQ(first.size(), 7U);
  EXPECT_EQ(second.size(), 16U);
}

TEST_F(AggregatorTest, TakeAllGivesEverythingBackOnce) {
  add(1, 8 * payload_bytes);
  add(2, 8 * payload_bytes);
  queue_.set_level(2);
  queue_.add({sim::partition_of(1, 0), 5, {model::producer_id(1)}});
  EXPECT_THAT(ids(queue_.take_all()), ElementsAre(1, 2));
  EXPECT_THAT(accepted_, ElementsAre(1, 2));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.queued_bytes(), 0U);
}

}  // namespace
}  // namespace braidmq::braid

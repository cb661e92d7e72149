#include "protocol/generated/offset_for_leader_epoch.hpp"

#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

class OffsetForLeaderEpochTest : public ServerTest {
 protected:
  using answer = protocol::offset_for_leader_epoch_response::epoch_end_offset;

  void write(const std::string& topic) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"v"}, {}, clock_.wall_ms())});
    ASSERT_EQ(ask<protocol::produce_response>(request, 9)->responses[0].partition_responses[0].error_code,
              error_code::none);
  }
  answer look(std::int32_t epoch, std::int32_t current = -1, const std::string& topic = "orders",
              std::int16_t version = 4, std::int32_t partition = 0) {
    protocol::offset_for_leader_epoch_request request;
    auto& wanted = request.topics.emplace_back();
    wanted.topic = topic;
    wanted.partitions.push_back(
        {model::partition_index(partition), model::leader_epoch(current), model::leader_epoch(epoch)});
    return ask<protocol::offset_for_leader_epoch_response>(request, version)->topics.at(0).partitions.at(0);
  }
  std::int32_t term() { return static_cast<std::int32_t>(broker_->braid().statistics().term.value()); }
  // A new term of office: everything is read again, and the broker elects itself anew.
  void restart() {
    kill();
    start();
  }
  // A Java consumer's verdict on its position (SubscriptionState.maybeCompleteValidation): undefined makes it reset,
  // an end below the position means that its log was cut.
  static void expect_position_stands(const answer& said, std::int64_t position) {
    EXPECT_EQ(said.error_code, error_code::none);
    EXPECT_GE(said.leader_epoch.value(), 0) << "it would reset its offset";
    EXPECT_GE(said.end_offset.value(), position) << "it would see a truncation";
  }
};

TEST_F(OffsetForLeaderEpochTest, APositionStandsAfterElections) {
  start();
  make_topic("orders", 1);
  make_topic("empty", 1);
  const std::int32_t first = term();
  write("orders");
  write("orders");
  restart();  // an epoch without records
  const std::int32_t second = term();
  ASSERT_GT(second, first);
  restart();
  write("orders");
  const std::int32_t third = term();
  for (std::int16_t version = 2; version <= 4; ++version) {
    // The last record of the first epoch was offset 1; the next one came in the third.
    expect_position_stands(look(first, third, "orders", version), 2);
    EXPECT_EQ(look(first, third, "orders", version).end_offset.value(), 2);
    EXPECT_EQ(look(first, third, "orders", version).leader_epoch.value(), first);
    expect_position_stands(look(second, third, "orders", version), 2);
    EXPECT_EQ(look(second, third, "orders", version).leader_epoch.value(), first) << "the second one wrote nothing";
    expect_position_stands(look(third, third, "orders", version), 3);
    EXPECT_EQ(look(third, third, "orders", version).leader_epoch.value(), third);
  }
  // From before the first record, as ListOffsets gives the epoch of an empty log.
  expect_position_stands(look(0, third), 0);
  for (std::int32_t epoch = 0; epoch <= third; ++epoch) expect_position_stands(look(epoch, third, "empty"), 0);
}

TEST_F(OffsetForLeaderEpochTest, WhatHasNotBeenIsUndefined) {
  start();
  make_topic("orders", 1);
  write("orders");
  for (const std::int32_t epoch : {term() + 1, -1}) {
    const answer said = look(epoch);
    EXPECT_EQ(said.error_code, error_code::none);
    EXPECT_EQ(said.leader_epoch.value(), -1);
    EXPECT_EQ(said.end_offset.value(), -1);
  }
}

TEST_F(OffsetForLeaderEpochTest, ClientsThatKnowAnotherLeaderAreTold) {
  start();
  make_topic("orders", 1);
  restart();
  EXPECT_EQ(look(1, term() - 1).error_code, error_code::fenced_leader_epoch);
  EXPECT_EQ(look(1, term() + 1).error_code, error_code::unknown_leader_epoch);
  EXPECT_EQ(look(1, term()).error_code, error_code::none);
}

TEST_F(OffsetForLeaderEpochTest, UnknownPartitionsAreSaid) {
  start();
  make_topic("orders", 1);
  EXPECT_EQ(look(1, -1, "nothing").error_code, error_code::unknown_topic_or_partition);
  EXPECT_EQ(look(1, -1, "orders", 4, 1).error_code, error_code::unknown_topic_or_partition);
  EXPECT_EQ(look(1, -1, "orders", 4, -1).error_code, error_code::unknown_topic_or_partition);
}

}  // namespace
}  // namespace braidmq::server

#include "protocol/generated/describe_quorum.hpp"

#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using DescribeQuorumTest = ServerTest;

protocol::describe_quorum_request quorum_request(const std::string& topic = "__cluster_metadata",
                                                 std::int32_t partition = 0) {
  protocol::describe_quorum_request request;
  auto& wanted = request.topics.emplace_back();
  wanted.topic_name = topic;
  wanted.partitions.push_back({model::partition_index(partition)});
  return request;
}

TEST_F(DescribeQuorumTest, ALoneVoterLeadsAndIsCaughtUp) {
  options_.id = model::broker_id(7);
  start();
  make_topic("orders", 1);
  for (std::int16_t version = 0; version <= 2; ++version) {
    const auto said = ask<protocol::describe_quorum_response>(quorum_request(), version);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->error_code, error_code::none);
    const auto& partition = said->topics.at(0).partitions.at(0);
    EXPECT_EQ(partition.error_code, error_code::none);
    EXPECT_EQ(partition.leader_id, model::broker_id(7));
    EXPECT_GT(partition.leader_epoch, model::leader_epoch(0));
    EXPECT_EQ(partition.high_watermark.value(), static_cast<std::int64_t>(broker_->image()->index()) + 1);
    ASSERT_EQ(partition.current_voters.size(), 1U);
    EXPECT_EQ(partition.current_voters[0].replica_id, model::broker_id(7));
    EXPECT_EQ(partition.current_voters[0].log_end_offset, partition.high_watermark);
    EXPECT_TRUE(partition.observers.empty());
    if (version >= 1) {
      EXPECT_EQ(partition.current_voters[0].last_caught_up_timestamp, clock_.wall_ms());
      EXPECT_EQ(partition.current_voters[0].last_fetch_timestamp, -1);
    }
    if (version >= 2) {
      EXPECT_EQ(partition.current_voters[0].replica_directory_id, broker_->incarnation());
      ASSERT_EQ(said->nodes.size(), 1U);
      EXPECT_EQ(said->nodes[0].node_id, model::broker_id(7));
    }
  }
}

TEST_F(DescribeQuorumTest, OtherPartitionsHaveNoQuorum) {
  start();
  for (const auto& request : {quorum_request("orders"), quorum_request("__cluster_metadata", 1)}) {
    const auto said = ask<protocol::describe_quorum_response>(request, 2);
    EXPECT_EQ(said->topics.at(0).partitions.at(0).error_code, error_code::unknown_topic_or_partition);
    EXPECT_TRUE(said->nodes.empty());
  }
  EXPECT_TRUE(ask<protocol::describe_quorum_response>(protocol::describe_quorum_request(), 2)->topics.empty());
}

}  // namespace
}  // namespace braidmq::server

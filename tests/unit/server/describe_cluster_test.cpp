#include "protocol/generated/describe_cluster.hpp"

#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using DescribeClusterTest = ServerTest;

TEST_F(DescribeClusterTest, SaysWhoIsThereInEveryVersion) {
  options_.id = model::broker_id(7);
  start();
  for (std::int16_t version = 0; version <= 2; ++version) {
    protocol::describe_cluster_request request;
    request.include_fenced_brokers = version >= 2;
    const auto said = ask<protocol::describe_cluster_response>(request, version);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->error_code, error_code::none);
    EXPECT_EQ(said->cluster_id, broker_->image()->cluster_id().to_string());
    EXPECT_EQ(said->controller_id, model::broker_id(7));
    ASSERT_EQ(said->brokers.size(), 1U);
    EXPECT_EQ(said->brokers[0].broker_id, model::broker_id(7));
    EXPECT_EQ(said->brokers[0].host, "broker.example");
    EXPECT_EQ(said->brokers[0].port, 9092);
    EXPECT_FALSE(said->brokers[0].is_fenced);
    EXPECT_EQ(said->endpoint_type, 1);
    EXPECT_EQ(said->cluster_authorized_operations, std::numeric_limits<std::int32_t>::min()) << "not asked for";
  }
}

TEST_F(DescribeClusterTest, OperationsAreThoseThatKafkasClustersKnow) {
  start();
  protocol::describe_cluster_request request;
  request.include_cluster_authorized_operations = true;
  // CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE.
  EXPECT_EQ(ask<protocol::describe_cluster_response>(request, 2)->cluster_authorized_operations, 8096);
}

TEST_F(DescribeClusterTest, ControllersAreNotHere) {
  start();
  protocol::describe_cluster_request request;
  request.endpoint_type = 2;
  const auto controllers = ask<protocol::describe_cluster_response>(request, 1);
  EXPECT_EQ(controllers->error_code, error_code::mismatched_endpoint_type);
  EXPECT_TRUE(controllers->brokers.empty());
  request.endpoint_type = 3;
  EXPECT_EQ(ask<protocol::describe_cluster_response>(request, 2)->error_code, error_code::unsupported_endpoint_type);
}

TEST_F(DescribeClusterTest, AListenerWithoutAddressNamesNobody) {
  options_.advertised.clear();
  start();
  EXPECT_TRUE(ask<protocol::describe_cluster_response>(protocol::describe_cluster_request(), 2)->brokers.empty());
}

}  // namespace
}  // namespace braidmq::server

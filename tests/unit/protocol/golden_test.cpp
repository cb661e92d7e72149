// Bytes worked out by hand from the protocol's rules, so that reader and writer cannot agree on the same mistake.
#include <gtest/gtest.h>

#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

template <class T>
void expect_wire(const T& value, std::int16_t version, std::string_view hex) {
  byte_buffer buffer;
  ASSERT_TRUE(value.encode(buffer, version));
  EXPECT_EQ(to_hex(buffer.view()), to_hex(from_hex(hex)));
  const auto decoded = T::decode(from_hex(hex), version);
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(*decoded, value) << decoded->to_json();
}

const uuid some_id{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

TEST(golden, api_versions_request) {
  expect_wire(api_versions_request{}, 0, "");
  api_versions_request request;
  request.client_software_name = "abc";
  request.client_software_version = "1";
  expect_wire(request, 3, "04 616263  02 31  00");
  request.node_id = model::broker_id(2);
  expect_wire(request, 5, "04 616263  02 31  00  00000002  00");
}

TEST(golden, api_versions_response) {
  api_versions_response response;
  response.error_code = error_code::unsupported_version;
  response.api_keys.push_back({18, 0, 5});
  expect_wire(response, 0, "0023  00000001  0012 0000 0005");
  response.error_code = error_code::none;
  response.throttle_time_ms = 7;
  expect_wire(response, 3, "0000  02  0012 0000 0005 00  00000007  00");
  response.finalized_features.push_back({"f", 2, 1});
  expect_wire(response, 3, "0000  02  0012 0000 0005 00  00000007  01  02 08  02 0266 0002 0001 00");
}

TEST(golden, metadata_request) {
  metadata_request request;
  request.topics.reset();
  expect_wire(request, 4, "ffffffff 01");
  auto& topic = request.topics.emplace().emplace_back();
  topic.topic_id = some_id;
  topic.name.reset();  // its default is "", not null, as in Kafka
  expect_wire(request, 12, "02  000102030405060708090a0b0c0d0e0f 00 00  01 00  00");
}

TEST(golden, metadata_response) {
  metadata_response response;
  response.brokers.push_back({model::broker_id(1), "h", 9092, std::nullopt});
  response.controller_id = model::broker_id(1);
  auto& topic = response.topics.emplace_back();
  topic.name = "t";
  auto& partition = topic.partitions.emplace_back();
  partition.leader_id = model::broker_id(1);
  partition.replica_nodes = {model::broker_id(1)};
  partition.isr_nodes = {model::broker_id(1)};
  expect_wire(response, 1,
              "00000001 00000001 0001 68 00002384 ffff  00000001"               // brokers, controller
              "00000001 0000 0001 74 00  00000001"                              // one topic
              "0000 00000000 00000001  00000001 00000001  00000001 00000001");  // one partition
}

TEST(golden, produce_request) {
  produce_request request;
  request.acks = -1;
  request.timeout_ms = 30'000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = "t";
  auto& partition = topic.partition_data.emplace_back();
  partition.index = model::partition_index(2);
  partition.records = from_hex("aabbcc");
  expect_wire(request, 3, "ffff ffff 00007530  00000001 0001 74  00000001 00000002 00000003 aabbcc");
}

TEST(golden, atomic_produce_request) {
  produce_request request;
  request.acks = 1;
  request.timeout_ms = 10;
  request.atomic = true;
  auto& topic = request.topic_data.emplace_back();
  topic.topic_id = some_id;
  topic.partition_data.emplace_back().index = model::partition_index(1);
  expect_wire(request, 13,
              "00 0001 0000000a  02 000102030405060708090a0b0c0d0e0f  02 00000001 00 00  00"
              "01 a946 01 01");  // 9001 is a9 46 as a varint
}

TEST(golden, produce_response_names_the_new_leader) {
  produce_response response;
  auto& partition = response.responses.emplace_back().partition_responses.emplace_back();
  partition.error_code = error_code::not_leader_or_follower;
  partition.base_offset = model::offset(-1);
  partition.current_leader = {model::broker_id(3), model::leader_epoch(8)};
  expect_wire(response, 10,
              "02 01  02 00000000 0006 ffffffffffffffff ffffffffffffffff ffffffffffffffff 01 00"
              "01 00 09 00000003 00000008 00  00  00000000 00");
}

TEST(golden, json_of_a_message) {
  produce_request request;
  request.topic_data.emplace_back().partition_data.emplace_back().records = from_hex("aabbcc");
  EXPECT_EQ(
      request.to_json(),
      R"({"transactional_id":null,"acks":0,"timeout_ms":0,"topic_data":[{"name":"","topic_id":"AAAAAAAAAAAAAAAAAAAAAA",)"
      R"("partition_data":[{"index":0,"records":"<3 bytes>"}]}],"atomic":false})");
}

}  // namespace
}  // namespace braidmq::protocol

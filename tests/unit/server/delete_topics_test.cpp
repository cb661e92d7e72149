// DeleteTopics, and what clients hear of a topic that is gone.
#include "protocol/generated/delete_topics.hpp"

#include "protocol/generated/fetch.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::delete_topics_request;
using protocol::error_code;

class DeleteTopicsTest : public ServerTest {
 protected:
  static delete_topics_request by_names(std::vector<std::string> names) {
    delete_topics_request request;
    request.timeout_ms = 5000;
    request.topic_names = std::move(names);
    return request;
  }
  void add(delete_topics_request& request, std::optional<std::string> name, model::topic_id id = {}) {
    request.timeout_ms = 5000;
    request.topics.push_back({std::move(name), id});
  }
  static protocol::fetch_request fetch_of(const metadata::topic_image& topic, std::int16_t version) {
    protocol::fetch_request request;
    request.max_bytes = 1 << 20;
    request.min_bytes = 1;
    request.max_wait_ms = 10'000;
    auto& wanted = request.topics.emplace_back();
    if (version >= 13)
      wanted.topic_id = topic.id;
    else
      wanted.topic = topic.name;
    wanted.partitions.emplace_back().partition_max_bytes = 1 << 20;
    return request;
  }
};

TEST_F(DeleteTopicsTest, ByNameInEveryVersionAndByIdInTheLast) {
  start();
  for (std::int16_t version = 1; version <= 6; ++version) {
    const auto topic = make_topic("orders", 2);
    delete_topics_request request = by_names({"orders"});
    if (version == 6) {
      request.topic_names.clear();
      add(request, "orders");
    }
    const auto response = ask<protocol::delete_topics_response>(request, version);
    ASSERT_EQ(response->responses.size(), 1U) << version;
    EXPECT_EQ(response->responses[0].error_code, error_code::none) << version;
    EXPECT_EQ(response->responses[0].name, "orders");
    if (version == 6) EXPECT_EQ(response->responses[0].topic_id, topic->id);
    EXPECT_EQ(broker_->image()->find("orders"), nullptr);
  }
  const auto topic = make_topic("orders", 2);
  delete_topics_request request;
  add(request, std::nullopt, topic->id);
  const auto response = ask<protocol::delete_topics_response>(request, 6);
  EXPECT_EQ(response->responses.at(0).error_code, error_code::none);
  EXPECT_EQ(response->responses.at(0).name, "orders");
  EXPECT_TRUE(broker_->braid().state().partitions().empty());
}

TEST_F(DeleteTopicsTest, RefusesInKafkasCodes) {
  start();
  const auto topic = make_topic("orders", 1);
  const auto by_name = ask<protocol::delete_topics_response>(by_names({"nowhere", "nowhere"}), 5);
  ASSERT_EQ(by_name->responses.size(), 2U);
  EXPECT_EQ(by_name->responses[0].error_code, error_code::unknown_topic_or_partition);
  EXPECT_EQ(by_name->responses[1].error_code, error_code::invalid_request);
  delete_topics_request request;
  add(request, std::nullopt, random_.next_uuid());
  add(request, "orders", topic->id);
  add(request, std::nullopt);
  const auto response = ask<protocol::delete_topics_response>(request, 6);
  EXPECT_EQ(response->responses.at(0).error_code, error_code::unknown_topic_id);
  EXPECT_EQ(response->responses.at(1).error_code, error_code::invalid_request) << "by name or by id";
  EXPECT_EQ(response->responses.at(2).error_code, error_code::invalid_request);
  EXPECT_NE(broker_->image()->find("orders"), nullptr);
}

TEST_F(DeleteTopicsTest, AWaitingFetchHearsOfItAtOnce) {
  start();
  for (const std::int16_t version : {std::int16_t{12}, std::int16_t{13}, std::int16_t{18}}) {
    const auto topic = make_topic("orders", 1);
    const auto waiting = send(frame_of(fetch_of(*topic, version), version));
    const std::int32_t fetch_correlation = correlation_;
    ASSERT_FALSE(waiting->said.has_value());
    ask<protocol::delete_topics_response>(by_names({"orders"}), 5);
    ASSERT_TRUE(waiting->said.has_value() && waiting->said->has_value()) << version;
    correlation_ = fetch_correlation;
    const auto response = read<protocol::fetch_response>(**waiting->said, version);
    EXPECT_EQ(response->responses.at(0).partitions.at(0).error_code,
              version >= 13 ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition)
        << version;
  }
}

TEST_F(DeleteTopicsTest, WhatComesLaterIsRefusedByNameAndById) {
  start();
  const auto topic = make_topic("orders", 1);
  ask<protocol::delete_topics_response>(by_names({"orders"}), 5);
  for (const std::int16_t version : {std::int16_t{12}, std::int16_t{13}}) {
    protocol::produce_request produce;
    produce.acks = -1;
    produce.timeout_ms = 1000;
    auto& data = produce.topic_data.emplace_back();
    if (version >= 13)
      data.topic_id = topic->id;
    else
      data.name = "orders";
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"a"}, {}, clock_.wall_ms())});
    const error_code expected = version >= 13 ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition;
    const auto refused = ask<protocol::produce_response>(produce, version);
    EXPECT_EQ(refused->responses.at(0).partition_responses.at(0).error_code, expected);
    const auto read = ask<protocol::fetch_response>(fetch_of(*topic, version), version);
    EXPECT_EQ(read->responses.at(0).partitions.at(0).error_code, expected);
  }
  protocol::list_offsets_request offsets;
  auto& asked = offsets.topics.emplace_back();
  asked.name = "orders";
  asked.partitions.emplace_back().timestamp = -1;
  EXPECT_EQ(ask<protocol::list_offsets_response>(offsets, 7)->topics.at(0).partitions.at(0).error_code,
            error_code::unknown_topic_or_partition);
}

TEST_F(DeleteTopicsTest, ATopicMadeAnewBeginsAtZeroAndShowsNothingOld) {
  start();
  const auto write = [this](const std::string& value) {
    protocol::produce_request produce;
    produce.acks = -1;
    produce.timeout_ms = 1000;
    auto& data = produce.topic_data.emplace_back();
    data.name = "orders";
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({value}, {}, clock_.wall_ms())});
    return ask<protocol::produce_response>(produce, 9)->responses.at(0).partition_responses.at(0).base_offset.value();
  };
  make_topic("orders", 1);
  EXPECT_EQ(write("old"), 0);
  EXPECT_EQ(write("older"), 1);
  ask<protocol::delete_topics_response>(by_names({"orders"}), 5);
  const auto anew = make_topic("orders", 1);
  const auto empty = ask<protocol::fetch_response>(
      [&] {
        auto request = fetch_of(*anew, 12);
        request.max_wait_ms = 0;
        return request;
      }(),
      12);
  EXPECT_EQ(empty->responses.at(0).partitions.at(0).high_watermark.value(), 0);
  EXPECT_EQ(write("new"), 0);
}

}  // namespace
}  // namespace braidmq::server

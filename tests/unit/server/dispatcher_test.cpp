#include "server/dispatcher.hpp"

#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/init_producer_id.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using DispatcherTest = ServerTest;

protocol::init_producer_id_request idempotent_request() {
  protocol::init_producer_id_request request;
  request.transactional_id.reset();
  return request;
}

// A response may set what only some versions can carry: each of them has to be encoded once.
TEST_F(DispatcherTest, EveryServedVersionOfEveryApiAnswers) {
  start();
  const auto topic = make_topic("orders", 2);
  const auto each = [](std::int16_t from, std::int16_t to, auto body) {
    for (std::int16_t version = from; version <= to; ++version) body(version);
  };
  each(3, 13, [&](std::int16_t version) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 1000;
    auto& data = request.topic_data.emplace_back();
    if (version >= 13)
      data.topic_id = topic->id;
    else
      data.name = "orders";
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"v"}, {}, clock_.wall_ms())});
    data.partition_data.push_back({model::partition_index(9), sim::make_batch({"v"}, {}, clock_.wall_ms())});
    const auto response = ask<protocol::produce_response>(request, version);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->responses.at(0).partition_responses.at(0).base_offset.value(), version - 3);
    EXPECT_EQ(response->responses.at(0).partition_responses.at(1).error_code, error_code::unknown_topic_or_partition);
  });
  each(4, 18, [&](std::int16_t version) {
    protocol::fetch_request request;
    request.max_bytes = 1 << 20;
    auto& wanted = request.topics.emplace_back();
    if (version >= 13)
      wanted.topic_id = topic->id;
    else
      wanted.topic = "orders";
    auto& partition = wanted.partitions.emplace_back();
    partition.partition_max_bytes = 1 << 20;
    const auto response = ask<protocol::fetch_response>(request, version);
    ASSERT_TRUE(response);
    const auto& answer = response->responses.at(0).partitions.at(0);
    EXPECT_EQ(answer.error_code, error_code::none);
    EXPECT_EQ(answer.high_watermark.value(), 11);
    EXPECT_GT(answer.records->size(), 11U * 61U);
  });
  each(1, 11, [&](std::int16_t version) {
    for (const std::int64_t time : {-1L, -2L, 0L}) {
      protocol::list_offsets_request request;
      auto& wanted = request.topics.emplace_back();
      wanted.name = "orders";
      wanted.partitions.emplace_back().timestamp = time;
      const auto response = ask<protocol::list_offsets_response>(request, version);
      ASSERT_TRUE(response);
      const auto& answer = response->topics.at(0).partitions.at(0);
      EXPECT_EQ(answer.error_code, error_code::none);
      EXPECT_EQ(answer.offset.value(), time == -1 ? 11 : 0);
    }
  });
  each(0, 13, [&](std::int16_t version) {
    protocol::metadata_request request;
    if (version >= 1) request.topics.reset();
    const auto response = ask<protocol::metadata_response>(request, version);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->topics.at(0).name, "orders");
    EXPECT_EQ(response->topics.at(0).partitions.size(), 2U);
    EXPECT_EQ(response->brokers.at(0).host, "broker.example");
  });
  each(0, 5, [&](std::int16_t version) {
    protocol::api_versions_request request;
    if (version >= 3) request.client_software_name = request.client_software_version = "x1";
    const auto response = ask<protocol::api_versions_response>(request, version);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->api_keys.size(), api_list().size());
  });
  each(2, 7, [&](std::int16_t version) {
    protocol::create_topics_request request;
    request.timeout_ms = 1000;
    auto& wanted = request.topics.emplace_back();
    wanted.name = "made-" + std::to_string(version);
    wanted.num_partitions = 1;
    wanted.replication_factor = 1;
    const auto response = ask<protocol::create_topics_response>(request, version);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->topics.at(0).error_code, error_code::none);
  });
  each(0, 5, [&](std::int16_t version) {
    const auto response = ask<protocol::init_producer_id_response>(idempotent_request(), version);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->producer_id.value(), version) << "ids of a block are handed out in order";
  });
}

TEST_F(DispatcherTest, F4_UnknownApisAndVersionsCloseTheConnection) {
  start();
  byte_buffer unknown_api;
  unknown_api.append_be<std::int16_t>(999);
  unknown_api.append_be<std::int16_t>(0);
  unknown_api.append_be<std::int32_t>(1);
  unknown_api.append_be<std::int16_t>(-1);
  EXPECT_FALSE(send(unknown_api.freeze())->said->has_value());
  byte_buffer old_produce;
  old_produce.append_be<std::int16_t>(0);
  old_produce.append_be<std::int16_t>(2);  // advertised, for librdkafka's sake, and not served
  old_produce.append_be<std::int32_t>(1);
  old_produce.append_be<std::int16_t>(-1);
  const auto refused = send(old_produce.freeze());
  ASSERT_FALSE(refused->said->has_value());
  EXPECT_NE(refused->said->error().message.find("Produce version 2"), std::string::npos);
  EXPECT_FALSE(send(bytes::copy_of("1234567"))->said->has_value()) << "shorter than a header";
  EXPECT_EQ(dispatcher_->refused_frames(), 3U);
}

// What a header says is enough to refuse a large request before its rest has come.
TEST_F(DispatcherTest, F6_ALargeRequestIsRefusedByItsStart) {
  start();
  const auto start_of = [](std::int16_t key, std::int16_t version, std::string_view hex_of_client_and_tags) {
    byte_buffer frame;
    frame.append_be(key);
    frame.append_be(version);
    frame.append_be<std::int32_t>(1);
    frame.append(hex_of_client_and_tags);
    frame.append(std::string(net::large_frame_start_bytes, '\x01'));
    return frame.freeze();
  };
  constexpr std::int16_t produce = 0;
  constexpr std::int16_t metadata = 3;
  constexpr std::size_t many = std::size_t{40} << 20U;
  const std::string_view no_client_no_tags("\xff\xff\x00", 3);
  const auto look = [&](const bytes& start, std::size_t frame_bytes) {
    return dispatcher_->look(*connection_, start, frame_bytes).has_value();
  };
  EXPECT_TRUE(look(start_of(produce, 9, no_client_no_tags), many));
  EXPECT_TRUE(look(start_of(metadata, 12, no_client_no_tags), std::size_t{1} << 20U));
  // 64 tags of which the first alone is longer than what is here.
  EXPECT_TRUE(look(start_of(produce, 9, std::string_view("\xff\xff\x40\x00\xff\xff\x7f", 7)), many));
  EXPECT_EQ(dispatcher_->refused_frames(), 0U);
  EXPECT_FALSE(look(start_of(produce, 9, "\xff\xff\x80\xda\xc4\x09"), many)) << "20,000,000 tags";
  EXPECT_FALSE(look(start_of(metadata, 12, no_client_no_tags), many)) << "a request without records";
  EXPECT_FALSE(look(start_of(999, 0, no_client_no_tags), many)) << "an unknown API";
  EXPECT_FALSE(look(start_of(produce, 99, no_client_no_tags), many)) << "an unknown version";
  EXPECT_EQ(dispatcher_->refused_frames(), 4U);
}

TEST_F(DispatcherTest, ABodyThatCannotBeReadClosesAndIsCounted) {
  start();
  protocol::metadata_request request;
  bytes frame = frame_of(request, 12);
  EXPECT_FALSE(send(frame.slice(0, frame.size() - 1))->said->has_value());
  std::uint64_t failures = 0;
  for (const api_counters& counters : dispatcher_->counters()) failures += counters.failures;
  EXPECT_EQ(failures, 1U);
}

TEST_F(DispatcherTest, AFetchThatWaitsDoesNotHoldTheConnectionBack) {
  start();
  const auto topic = make_topic("orders", 1);
  protocol::fetch_request request;
  request.max_bytes = 1 << 20;
  request.min_bytes = 1;
  request.max_wait_ms = 500;
  auto& wanted = request.topics.emplace_back();
  wanted.topic_id = topic->id;
  wanted.partitions.emplace_back().partition_max_bytes = 1 << 20;
  const auto waiting = send(frame_of(request, 13));
  EXPECT_TRUE(waiting->accepted);
  EXPECT_FALSE(waiting->said);
  pass_time(std::chrono::milliseconds(500));
  ASSERT_TRUE(waiting->said);
  EXPECT_TRUE(waiting->said->has_value());
}

TEST_F(DispatcherTest, AReplicasFetchIsRefused) {
  start();
  protocol::fetch_request old_way;
  old_way.replica_id = model::broker_id(3);
  EXPECT_EQ(ask<protocol::fetch_response>(old_way, 12)->error_code, error_code::cluster_authorization_failed);
  protocol::fetch_request new_way;
  new_way.replica_state.replica_id = model::broker_id(3);
  EXPECT_EQ(ask<protocol::fetch_response>(new_way, 17)->error_code, error_code::cluster_authorization_failed);
}

TEST_F(DispatcherTest, ATransactionalIdIsRefusedForGood) {
  start();
  protocol::init_producer_id_request request;
  request.transactional_id = "t";
  const auto response = ask<protocol::init_producer_id_response>(request, 4);
  EXPECT_EQ(response->error_code, error_code::unsupported_version);
  EXPECT_FALSE(protocol::is_retriable(response->error_code));
}

TEST_F(DispatcherTest, ProducerIdsAreNeverGivenTwiceOverRestarts) {
  std::set<std::int64_t> seen;
  for (int life = 0; life < 3; ++life) {
    start();
    for (int i = 0; i < 5; ++i) {
      const auto response = ask<protocol::init_producer_id_response>(idempotent_request(), 4);
      EXPECT_TRUE(seen.insert(response->producer_id.value()).second);
    }
    dispatcher_.reset();
    broker_.reset();
    run();
    fs_.kill_process();
  }
}

TEST_F(DispatcherTest, AMissingTopicIsMadeOnlyWhenClientAndBrokerAllowIt) {
  start();
  protocol::metadata_request request;
  request.topics.emplace();
  request.topics->emplace_back().name = "new";
  EXPECT_EQ(ask<protocol::metadata_response>(request, 12)->topics.at(0).error_code,
            error_code::unknown_topic_or_partition);
  kill();
  options_.auto_create_topics = true;
  start();
  request.allow_auto_topic_creation = false;
  EXPECT_EQ(ask<protocol::metadata_response>(request, 12)->topics.at(0).error_code,
            error_code::unknown_topic_or_partition);
  request.allow_auto_topic_creation = true;
  EXPECT_EQ(ask<protocol::metadata_response>(request, 12)->topics.at(0).error_code, error_code::none);
  request.topics->front().name = "no/good";
  EXPECT_EQ(ask<protocol::metadata_response>(request, 12)->topics.at(0).error_code,
            error_code::invalid_topic_exception);
}

// Before the log has been applied again, a topic that exists must not be answered as unknown.
TEST_F(DispatcherTest, RequestsWaitForTheMetadataThatWasAcknowledged) {
  start();
  for (int i = 0; i < 20; ++i) make_topic(fmt::format("topic.{}", i), 1);
  kill();
  open();
  EXPECT_FALSE(broker_->readiness().empty());
  protocol::metadata_request request;
  request.topics.reset();
  const auto response = ask<protocol::metadata_response>(request, 12);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->topics.size(), 20U);
  EXPECT_TRUE(broker_->readiness().empty());
}

}  // namespace
}  // namespace braidmq::server

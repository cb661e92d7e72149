#include "protocol/generated/produce.hpp"

#include "protocol/generated/fetch.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using protocol::produce_request;
using sim::idempotent;

class ProduceTest : public ServerTest {
 protected:
  produce_request request_for(const std::string& topic, bytes batch, std::int16_t acks = -1) {
    produce_request request;
    request.acks = acks;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back({model::partition_index(0), std::move(batch)});
    return request;
  }
  bytes batch(const std::vector<std::string>& values, model::batch_options options = {}) {
    return sim::make_batch(values, options, clock_.wall_ms());
  }
  protocol::produce_response::partition_produce_response produce(const produce_request& request,
                                                                 std::int16_t version = 9) {
    const auto response = ask<protocol::produce_response>(request, version);
    return response ? response->responses.at(0).partition_responses.at(0)
                    : protocol::produce_response::partition_produce_response();
  }
};

TEST_F(ProduceTest, PipelinedRequestsOfAnIdempotentProducerKeepTheirOrder) {
  start();
  make_topic("orders", 1);
  std::vector<std::shared_ptr<raw_answer>> answers;
  for (int i = 0; i < 5; ++i) {
    // As the connection does: the next one is handed over when the one before has its place.
    answers.push_back(send(frame_of(request_for("orders", batch({"v"}, idempotent(1, 0, i))), 9)));
    ASSERT_TRUE(answers.back()->accepted);
  }
  run();
  for (const auto& heard : answers) ASSERT_TRUE(heard->said && heard->said->has_value());
  EXPECT_EQ(produce(request_for("orders", batch({"v"}, idempotent(1, 0, 5)))).base_offset.value(), 5);
}

TEST_F(ProduceTest, P2_ARepeatedBatchGetsItsOldOffset) {
  start();
  make_topic("orders", 1);
  const auto request = request_for("orders", batch({"a", "b"}, idempotent(1, 0, 0)));
  EXPECT_EQ(produce(request).base_offset.value(), 0);
  EXPECT_EQ(produce(request_for("orders", batch({"c"}, idempotent(1, 0, 2)))).base_offset.value(), 2);
  const auto again = produce(request);
  EXPECT_EQ(again.error_code, error_code::none);
  EXPECT_EQ(again.base_offset.value(), 0);
}

TEST_F(ProduceTest, AFullDiskRefusesWritesAndNothingElseAndRecovers) {
  start();
  make_topic("orders", 1);
  EXPECT_EQ(produce(request_for("orders", batch({"a"}, idempotent(1, 0, 0)))).error_code, error_code::none);
  fs_.set_free_bytes(1U << 20U);
  pass_time(std::chrono::seconds(1));
  const auto refused = produce(request_for("orders", batch({"b"}, idempotent(1, 0, 1))));
  EXPECT_EQ(refused.error_code, error_code::kafka_storage_error);
  EXPECT_TRUE(broker_->disk_space().is_full);
  EXPECT_TRUE(broker_->readiness().empty()) << "readers are served";

  protocol::fetch_request fetch;
  fetch.max_bytes = 1 << 20;
  auto& topic = fetch.topics.emplace_back();
  topic.topic = "orders";
  auto& partition = topic.partitions.emplace_back();
  partition.fetch_offset = model::offset(0);
  partition.partition_max_bytes = 1 << 20;
  const auto read = ask<protocol::fetch_response>(fetch, 11);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->responses.at(0).partitions.at(0).records->empty());
  bool deleted = false;
  broker_->controller().delete_topic(make_topic("gone", 1)->id, std::chrono::seconds(5),
                                     [&](const auto& said) { deleted = said.has_value(); });
  run();
  EXPECT_TRUE(deleted);

  fs_.set_free_bytes(std::uint64_t{1} << 40U);
  pass_time(std::chrono::seconds(1));
  const auto taken = produce(request_for("orders", batch({"b"}, idempotent(1, 0, 1))));
  EXPECT_EQ(taken.error_code, error_code::none) << "the sequence was not used up";
  EXPECT_EQ(taken.base_offset.value(), 1);
}

TEST_F(ProduceTest, P3_AGapIsAnsweredWith45) {
  start();
  make_topic("orders", 1);
  produce(request_for("orders", batch({"a"}, idempotent(1, 0, 0))));
  EXPECT_EQ(produce(request_for("orders", batch({"a"}, idempotent(1, 0, 7)))).error_code,
            error_code::out_of_order_sequence_number);
}

TEST_F(ProduceTest, RefusedSlicesFailAlone) {
  start();
  make_topic("orders", 1);
  produce_request request = request_for("orders", batch({"a"}));
  auto broken = std::vector<std::byte>(request.topic_data[0].partition_data[0].records->view().begin(),
                                       request.topic_data[0].partition_data[0].records->view().end());
  broken.back() ^= std::byte{1};
  request.topic_data[0].partition_data.push_back({model::partition_index(0), bytes::take(std::move(broken))});
  request.topic_data[0].partition_data.push_back({model::partition_index(0), std::nullopt});
  request.topic_data[0].partition_data.push_back({model::partition_index(0), batch({"b"})});
  const auto response = ask<protocol::produce_response>(request, 9);
  const auto& answers = response->responses.at(0).partition_responses;
  EXPECT_EQ(answers.at(0).base_offset.value(), 0);
  EXPECT_EQ(answers.at(1).error_code, error_code::corrupt_message);
  EXPECT_EQ(answers.at(2).error_code, error_code::invalid_record);
  EXPECT_EQ(answers.at(3).base_offset.value(), 1);
}

TEST_F(ProduceTest, LogAppendTimeStampsTheBatchAndSaysSo) {
  start();
  make_topic("stamped", 1, {{"message.timestamp.type", "LogAppendTime"}});
  const std::int64_t now = clock_.wall_ms();
  const auto answer = produce(request_for("stamped", sim::make_batch({"a"}, {}, 5)));
  EXPECT_EQ(answer.error_code, error_code::none);
  EXPECT_EQ(answer.log_append_time_ms, now);
  protocol::fetch_request fetch;
  fetch.max_bytes = 1 << 20;
  auto& wanted = fetch.topics.emplace_back();
  wanted.topic = "stamped";
  wanted.partitions.emplace_back().partition_max_bytes = 1 << 20;
  const auto read = ask<protocol::fetch_response>(fetch, 12);
  const auto header = model::check_whole_batch(*read->responses.at(0).partitions.at(0).records);
  ASSERT_TRUE(header) << "the CRC was renewed";
  EXPECT_EQ(header->max_timestamp_ms, now);
  EXPECT_EQ(header->timestamps(), model::timestamp_type::log_append_time);
}

TEST_F(ProduceTest, ALimitOfTheTopicHolds) {
  start();
  make_topic("small", 1, {{"max.message.bytes", "100"}});
  EXPECT_EQ(produce(request_for("small", batch({std::string(200, 'x')}))).error_code, error_code::message_too_large);
}

TEST_F(ProduceTest, AcksZeroGetsNoAnswerAndAFailureClosesTheConnection) {
  start();
  make_topic("orders", 1);
  const auto silent = send(frame_of(request_for("orders", batch({"a"}), 0), 9));
  ASSERT_TRUE(silent->said && silent->said->has_value());
  EXPECT_FALSE((*silent->said)->has_value());
  const auto failed = send(frame_of(request_for("nowhere", batch({"a"}), 0), 9));
  ASSERT_TRUE(failed->said);
  EXPECT_FALSE(failed->said->has_value());
}

TEST_F(ProduceTest, WhatIsNotThereYetIsRefusedInWords) {
  start();
  make_topic("orders", 1);
  EXPECT_EQ(produce(request_for("orders", batch({"a"}), 2)).error_code, error_code::invalid_required_acks);
  produce_request transactional = request_for("orders", batch({"a"}));
  transactional.transactional_id = "t";
  EXPECT_EQ(produce(transactional).error_code, error_code::invalid_txn_state);
  model::batch_options options = idempotent(1, 0, 0);
  options.transactional = true;
  EXPECT_EQ(produce(request_for("orders", batch({"a"}, options))).error_code, error_code::invalid_txn_state);
}

TEST_F(ProduceTest, ARequestLargerThanAnEntryIsRefused) {
  options_.aggregator.entry_max_bytes = 1000;
  start();
  make_topic("orders", 1);
  EXPECT_EQ(produce(request_for("orders", batch({std::string(2000, 'x')}))).error_code, error_code::message_too_large);
  EXPECT_EQ(produce(request_for("orders", batch({"a"}))).base_offset.value(), 0);
}

// 2,000 batches of a few hundred bytes that decode to a megabyte each: two gigabytes of work for one request.
TEST_F(ProduceTest, C4_WhatOneRequestDecodesToIsBoundedOverItsBatches) {
  start();
  make_topic("orders", 2000, {{"max.message.bytes", "10485760"}});
  model::batch_options zstd;
  zstd.codec = model::compression::zstd;
  const bytes bomb = batch({std::string(std::size_t{1} << 20U, 'x')}, zstd);
  produce_request request = request_for("orders", bomb);
  for (std::int32_t p = 1; p < 2000; ++p) {
    request.topic_data[0].partition_data.push_back({model::partition_index(p), bomb});
  }
  const std::size_t size = bomb.size() * 2000;
  const auto response = ask<protocol::produce_response>(request, 9);
  ASSERT_TRUE(response);
  std::size_t taken = 0;
  for (const auto& one : response->responses.at(0).partition_responses) {
    if (one.error_code == error_code::none) ++taken;
  }
  EXPECT_GE(taken, 64U) << "what a request of its size may";
  EXPECT_LE(taken, 65 + 40 * size / (std::size_t{1} << 20U));
}

TEST_F(ProduceTest, ABatchMayDecodeToMoreWhenTheTopicTakesLargerOnes) {
  start();
  make_topic("orders", 1, {{"max.message.bytes", std::to_string(64 << 20)}});
  options_.max_message_bytes = 64 << 20;
  model::batch_options zstd;
  zstd.codec = model::compression::zstd;
  EXPECT_EQ(produce(request_for("orders", batch({std::string(std::size_t{40} << 20U, 'x')}, zstd))).error_code,
            error_code::none);
}

}  // namespace
}  // namespace braidmq::server

#include "protocol/generated/fetch.hpp"

#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;

class FetchTest : public ServerTest {
 protected:
  void write(const std::string& topic, std::size_t value_bytes) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back(
        {model::partition_index(0), sim::make_batch({std::string(value_bytes, 'v')}, {}, clock_.wall_ms())});
    ASSERT_TRUE(ask<protocol::produce_response>(request, 9));
  }
  bytes fetch_frame(const std::string& topic, std::int32_t max_wait_ms, std::int32_t min_bytes = 1) {
    protocol::fetch_request request;
    request.max_wait_ms = max_wait_ms;
    request.min_bytes = min_bytes;
    request.max_bytes = 50 << 20;
    request.session_epoch = -1;
    auto& data = request.topics.emplace_back();
    data.topic = topic;
    auto& partition = data.partitions.emplace_back();
    partition.partition = model::partition_index(0);
    partition.partition_max_bytes = 1 << 20;
    return frame_of(request, 11);
  }
  std::size_t records_of(const raw_answer& heard) {
    const auto response = read<protocol::fetch_response>(**heard.said, 11);
    return response ? response->responses.at(0).partitions.at(0).records->size() : 0;
  }
};

TEST_F(FetchTest, ASecondFetchOfAConnectionWaitsForTheAnswerOfTheFirst) {
  start();
  make_topic("orders", 1);
  const auto first = send(fetch_frame("orders", 30'000));
  EXPECT_TRUE(first->accepted) << "others may come while it waits";
  const auto second = send(fetch_frame("orders", 30'000));
  EXPECT_FALSE(second->accepted) << "one connection could hold as many answers as it likes";
  write("orders", 10);
  run();
  ASSERT_TRUE(first->said && second->said);
  EXPECT_TRUE(second->accepted);
  EXPECT_EQ(connection_->unanswered_fetches, 0U);
}

TEST_F(FetchTest, APartitionThatIsRefusedTakesMemoryAsAnyOther) {
  constexpr std::int32_t count = 200;
  start();
  make_topic("orders", count);
  // Of partition 0, which is there, and others from `first` on: the most that was held at any time.
  const auto most_held = [this](std::int32_t first) {
    protocol::fetch_request request;
    request.max_bytes = 1 << 20;
    request.session_epoch = -1;
    auto& data = request.topics.emplace_back();
    data.topic = "orders";
    for (std::int32_t i = 0; i < count; ++i) {
      auto& partition = data.partitions.emplace_back();
      partition.partition = model::partition_index(i == 0 ? 0 : first + i);
      partition.partition_max_bytes = 1 << 20;
    }
    const bytes frame = frame_of(request, 11);
    std::size_t most = 0;
    bool answered = false;
    dispatcher_->handle(
        connection_, frame, [] {}, [&answered](const result<net::answer>& said) { answered = said.has_value(); });
    context_.restart();
    while (loop_.run_one() || context_.poll_one() > 0) {
      most = std::max(most, requests_->used_bytes());
      context_.restart();
    }
    EXPECT_TRUE(answered);
    return most;
  };
  const std::size_t of_known = most_held(0);
  EXPECT_GT(of_known, count * sizeof(protocol::fetch_response::partition_data));
  EXPECT_GE(most_held(count), of_known);
}

TEST_F(FetchTest, AnAnswerHoldsItsBytesAndAUsedUpBudgetMakesItWait) {
  answers_ = memory_budget::create(std::size_t{8} << 20U);
  start();
  make_topic("orders", 1);
  write("orders", 1000);
  const auto plain = send(fetch_frame("orders", 500));
  ASSERT_TRUE(plain->said);
  EXPECT_GT(records_of(*plain), 1000U);
  EXPECT_EQ(answers_->used_bytes(), 0U) << "from here on the connection counts it";

  memory_lease others = answers_->take(std::size_t{8} << 20U);
  const auto late = send(fetch_frame("orders", 500));
  EXPECT_FALSE(late->said);
  others = {};
  pass_time(30ms);
  ASSERT_TRUE(late->said) << "soon, not at the end of its wait";
  EXPECT_GT(records_of(*late), 1000U) << "there is room again";

  others = answers_->take(std::size_t{8} << 20U);
  const auto empty = send(fetch_frame("orders", 500));
  for (int i = 0; i < 24; ++i) pass_time(20ms);
  EXPECT_FALSE(empty->said);
  pass_time(50ms);
  ASSERT_TRUE(empty->said);
  EXPECT_EQ(records_of(*empty), 0U) << "no error, the client asks again";
}

TEST_F(FetchTest, WhatWaitsForAConnectionThatEndedIsGivenUp) {
  start();
  make_topic("orders", 1);
  const auto heard = send(fetch_frame("orders", 300'000));
  EXPECT_EQ(broker_->braid().statistics().parked_fetches, 1U);
  pass_time(6s);
  EXPECT_EQ(broker_->braid().statistics().parked_fetches, 1U) << "still wanted";
  EXPECT_FALSE(heard->said);
  connection_->ended = true;
  pass_time(6s);
  EXPECT_EQ(broker_->braid().statistics().parked_fetches, 0U);
}

TEST_F(FetchTest, ALongWaitEndsAtItsDeadlineAndByBytesThatCome) {
  start();
  make_topic("orders", 1);
  const auto in_vain = send(fetch_frame("orders", 12'000));
  for (int second = 0; second < 12; ++second) {
    EXPECT_FALSE(in_vain->said) << second;
    pass_time(1s);
  }
  ASSERT_TRUE(in_vain->said);
  const auto filled = send(fetch_frame("orders", 12'000));
  pass_time(7s);
  write("orders", 10);
  run();
  EXPECT_TRUE(filled->said);
}

// 16 MiB of elements that take two bytes each would be 600 MiB once decoded.
TEST_F(FetchTest, F5_ARequestOfManySmallElementsIsRefusedBeforeItTakesMemory) {
  start();
  protocol::metadata_request request;
  request.topics.emplace();
  auto& names = *request.topics;
  for (int i = 0; i < 900'000; ++i) names.emplace_back().name = "";
  const auto heard = send(frame_of(request, 12));
  ASSERT_TRUE(heard->said);
  ASSERT_FALSE(heard->said->has_value());
  EXPECT_NE(heard->said->error().to_string().find("more memory"), std::string::npos)
      << heard->said->error().to_string();
}

TEST_F(FetchTest, RequestsWithoutRecordsAreBounded) {
  start();
  byte_buffer frame;
  frame.append(fetch_frame("orders", 1));
  frame.append_zeros(std::size_t{17} << 20U);
  const auto heard = send(frame.freeze());
  ASSERT_TRUE(heard->said);
  ASSERT_FALSE(heard->said->has_value());
  EXPECT_NE(heard->said->error().to_string().find("at most 16777216"), std::string::npos);
}

}  // namespace
}  // namespace braidmq::server

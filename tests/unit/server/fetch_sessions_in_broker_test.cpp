// Incremental fetches through dispatcher, handler and braid.
#include "protocol/generated/delete_topics.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;
using protocol::error_code;
using protocol::fetch_request;
using protocol::fetch_response;

class IncrementalFetchTest : public ServerTest {
 protected:
  void write(const std::string& topic, std::int32_t partition, std::size_t value_bytes = 10) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back(
        {model::partition_index(partition), sim::make_batch({std::string(value_bytes, 'v')}, {}, clock_.wall_ms())});
    ASSERT_EQ(ask<protocol::produce_response>(request, 9)->responses[0].partition_responses[0].error_code,
              error_code::none);
  }

  fetch_request request_of(std::int32_t session, std::int32_t epoch, std::int32_t max_wait_ms = 0) {
    fetch_request request;
    request.max_wait_ms = max_wait_ms;
    request.min_bytes = 1;
    request.max_bytes = 50 << 20;
    request.session_id = session;
    request.session_epoch = epoch;
    return request;
  }
  static void want(fetch_request& request, const model::topic_id& topic, std::int32_t partition,
                   std::int64_t from = 0) {
    if (request.topics.empty() || request.topics.back().topic_id != topic)
      request.topics.emplace_back().topic_id = topic;
    auto& wanted = request.topics.back().partitions.emplace_back();
    wanted.partition = model::partition_index(partition);
    wanted.fetch_offset = model::offset(from);
    wanted.partition_max_bytes = 1 << 20;
  }
  // Partition and end, by place in the answer.
  static std::vector<std::pair<int, int>> ends(const fetch_response& response) {
    std::vector<std::pair<int, int>> all;
    for (const auto& topic : response.responses) {
      for (const auto& one : topic.partitions) {
        all.emplace_back(one.partition_index.value(), static_cast<int>(one.high_watermark.value()));
      }
    }
    return all;
  }
  using list = std::vector<std::pair<int, int>>;
};

TEST_F(IncrementalFetchTest, NamesAPartitionOnceAndHearsOfItWhenItGrows) {
  start();
  const auto topic = make_topic("orders", 3);
  fetch_request first = request_of(0, 0);
  for (int p = 0; p < 3; ++p) want(first, topic->id, p);
  const auto made = ask<fetch_response>(first, 18);
  EXPECT_NE(made->session_id, 0);
  EXPECT_EQ(ends(*made), (list{{0, 0}, {1, 0}, {2, 0}}));

  const auto waiting = send(frame_of(request_of(made->session_id, 1, 30'000), 18));
  EXPECT_FALSE(waiting->said) << "it waits for partitions that it does not name";
  write("orders", 1);
  run();
  ASSERT_TRUE(waiting->said);
  correlation_ -= 1;  // of the fetch, before the write
  const auto woken = read<fetch_response>(**waiting->said, 18);
  correlation_ += 1;
  EXPECT_EQ(ends(*woken), (list{{1, 1}}));
  EXPECT_GT(woken->responses[0].partitions[0].records->size(), 0U);

  fetch_request next = request_of(made->session_id, 2);
  want(next, topic->id, 1, 1);
  EXPECT_EQ(ends(*ask<fetch_response>(next, 18)), list{});
  EXPECT_EQ(dispatcher_->session_statistics().sessions, 1U);
  EXPECT_EQ(dispatcher_->session_statistics().partitions, 3U);
}

TEST_F(IncrementalFetchTest, AHotPartitionDoesNotStarveTheOthers) {
  start();
  const auto topic = make_topic("orders", 4);
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 4; ++i) write("orders", p, 1000);
  }
  fetch_request request = request_of(0, 0);
  request.max_bytes = 1500;
  for (int p = 0; p < 4; ++p) want(request, topic->id, p);
  auto response = ask<fetch_response>(request, 18);
  std::map<int, int> answers_with_records;
  std::map<int, std::int64_t> positions;
  const std::int32_t session = response->session_id;
  for (int epoch = 1; epoch <= 9; ++epoch) {
    request = request_of(session, epoch);
    request.max_bytes = 1500;
    for (const auto& one : response->responses.empty() ? std::vector<fetch_response::partition_data>{}
                                                       : response->responses[0].partitions) {
      if (one.records->empty()) continue;
      ++answers_with_records[one.partition_index.value()];
      want(request, topic->id, one.partition_index.value(), ++positions[one.partition_index.value()]);
      // As much again: this one never runs dry.
      write("orders", one.partition_index.value(), 1000);
    }
    response = ask<fetch_response>(request, 18);
  }
  for (int p = 0; p < 4; ++p) EXPECT_GE(answers_with_records[p], 2) << p;
}

TEST_F(IncrementalFetchTest, HearsThatATopicIsGoneUntilItForgetsIt) {
  start();
  const auto stays = make_topic("stays", 1);
  const auto goes = make_topic("goes", 1);
  fetch_request first = request_of(0, 0);
  want(first, stays->id, 0);
  want(first, goes->id, 0);
  const std::int32_t session = ask<fetch_response>(first, 18)->session_id;

  protocol::delete_topics_request deletion;
  deletion.topics.emplace_back().name = "goes";
  deletion.timeout_ms = 5000;
  ask<protocol::delete_topics_response>(deletion, 6);
  for (int epoch = 1; epoch <= 2; ++epoch) {
    const auto heard = ask<fetch_response>(request_of(session, epoch, 30'000), 18);
    ASSERT_EQ(heard->responses.size(), 1U);
    EXPECT_EQ(heard->responses[0].topic_id, goes->id);
    EXPECT_EQ(heard->responses[0].partitions[0].error_code, error_code::unknown_topic_id);
  }
  fetch_request forget = request_of(session, 3);
  auto& forgotten = forget.forgotten_topics_data.emplace_back();
  forgotten.topic_id = goes->id;
  forgotten.partitions = {model::partition_index(0)};
  EXPECT_EQ(ends(*ask<fetch_response>(forget, 18)), list{});
}

TEST_F(IncrementalFetchTest, ByNameServesTheTopicThatHasTheNameNow) {
  start();
  make_topic("orders", 1);
  fetch_request first = request_of(0, 0);
  auto& wanted = first.topics.emplace_back();
  wanted.topic = "orders";
  wanted.partitions.emplace_back().partition_max_bytes = 1 << 20;
  const std::int32_t session = ask<fetch_response>(first, 7)->session_id;
  EXPECT_NE(session, 0);
  write("orders", 0);
  const auto heard = ask<fetch_response>(request_of(session, 1), 12);
  ASSERT_EQ(heard->responses.size(), 1U);
  EXPECT_EQ(heard->responses[0].topic, "orders");
  EXPECT_EQ(ask<fetch_response>(request_of(session, 2), 13)->error_code, error_code::fetch_session_topic_id_error);
}

TEST_F(IncrementalFetchTest, ARequestThatOvertakesAWaitingOneMakesItFail) {
  start();
  const auto topic = make_topic("orders", 1);
  fetch_request first = request_of(0, 0);
  want(first, topic->id, 0);
  const std::int32_t session = ask<fetch_response>(first, 18)->session_id;
  const auto waiting = send(frame_of(request_of(session, 1, 30'000), 18));
  const auto second = send(frame_of(request_of(session, 2, 0), 18));
  ASSERT_TRUE(second->said);
  EXPECT_EQ(read<fetch_response>(**second->said, 18)->error_code, error_code::none);
  write("orders", 0);
  run();
  ASSERT_TRUE(waiting->said);
  correlation_ -= 2;
  EXPECT_EQ(read<fetch_response>(**waiting->said, 18)->error_code, error_code::invalid_fetch_session_epoch);
}

TEST_F(IncrementalFetchTest, BeforeVersionSevenThereIsNoSession) {
  start();
  make_topic("orders", 1);
  fetch_request request = request_of(0, -1);
  auto& wanted = request.topics.emplace_back();
  wanted.topic = "orders";
  wanted.partitions.emplace_back().partition_max_bytes = 1 << 20;
  EXPECT_EQ(ask<fetch_response>(request, 6)->session_id, 0);
  EXPECT_EQ(ask<fetch_response>(request, 11)->session_id, 0) << "nor for one that does not want one";
  EXPECT_EQ(dispatcher_->session_statistics().sessions, 0U);
}

// N4: each of a flood of new consumers is served, the memory is bounded.
TEST_F(IncrementalFetchTest, N4_AFloodOfSessionsIsServedWithoutSessions) {
  options_.fetch_sessions.max_sessions = 10;
  start();
  const auto topic = make_topic("orders", 1);
  fetch_request request = request_of(0, 0);
  want(request, topic->id, 0);
  int without = 0;
  for (int i = 0; i < 500; ++i) {
    const auto heard = ask<fetch_response>(request, 18);
    EXPECT_EQ(ends(*heard), (list{{0, 0}}));
    if (heard->session_id == 0) ++without;
  }
  EXPECT_EQ(without, 490);
  EXPECT_EQ(dispatcher_->session_statistics().sessions, 10U);
  EXPECT_EQ(dispatcher_->session_statistics().refused, 490U);
}

}  // namespace
}  // namespace braidmq::server

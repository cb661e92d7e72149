#include "net/errc.hpp"
#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

using namespace std::chrono_literals;

class connection_test : public connection_fixture {};

TEST_F(connection_test, hands_over_a_frame_and_sends_the_answer_with_its_length) {
  open();
  read_all();
  send(framed("request"));
  ASSERT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(handler.requests[0].frame, "request");
  EXPECT_EQ(handler.last_info->remote, "10.0.0.1:40000");
  handler.requests[0].respond(answer(std::vector<bytes>{bytes::copy_of("two "), bytes(), bytes::copy_of("parts")}));
  loop.run_ready();
  EXPECT_EQ(client->frames(), std::vector<std::string>{"two parts"});
  EXPECT_EQ(server->inflight_bytes(), 0U);
}

TEST_F(connection_test, waits_for_accepted_before_the_next_frame) {
  handler.accept_at_once = false;
  open();
  byte_buffer both;
  both.append(framed("one"));
  both.append(framed("two"));
  send(both.freeze());
  ASSERT_EQ(handler.requests.size(), 1U);
  handler.requests[0].respond(answer_of("1"));  // answering is not accepting
  loop.run_ready();
  ASSERT_EQ(handler.requests.size(), 1U);
  handler.requests[0].accepted();
  ASSERT_EQ(handler.requests.size(), 2U);
  EXPECT_EQ(handler.requests[1].frame, "two");
}

TEST_F(connection_test, answers_leave_in_the_order_of_the_requests) {
  open();
  read_all();
  for (const auto* text : {"a", "b", "c"}) send(framed(text));
  handler.requests[2].respond(answer_of("C"));
  handler.requests[1].respond(answer(std::nullopt));
  loop.run_ready();
  EXPECT_TRUE(client->frames().empty());
  handler.requests[0].respond(answer_of("A"));
  loop.run_ready();
  EXPECT_EQ(client->frames(), (std::vector<std::string>{"A", "C"}));
}

TEST_F(connection_test, answers_that_come_together_leave_by_one_write) {
  open();
  read_all();
  for (const auto* text : {"a", "b", "c"}) send(framed(text));
  const std::string large(5000, 'L');
  handler.requests[0].respond(answer_of("A"));
  handler.requests[1].respond(answer_of(large));
  handler.requests[2].respond(answer_of("C"));
  EXPECT_EQ(client->reads, 0U);
  loop.run_ready();
  EXPECT_EQ(client->frames(), (std::vector<std::string>{"A", large, "C"}));
  EXPECT_EQ(client->reads, 1U);
}

TEST_F(connection_test, a_connection_that_goes_before_its_answer_is_written_writes_nothing) {
  open();
  read_all();
  send(framed("a"));
  handler.requests[0].respond(answer_of("A"));
  server->close(close_cause::stopped, "test");
  loop.run_ready();
  EXPECT_TRUE(client->frames().empty());
  EXPECT_TRUE(client->ended);
}

TEST_F(connection_test, back_pressure_ends_when_answers_are_taken) {
  open({.max_inflight_frames = 3});
  for (int i = 0; i < 10; ++i) send(framed(std::to_string(i)));
  EXPECT_EQ(handler.requests.size(), 3U);
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_GT(handler.requests.size(), i);
    handler.requests[i].respond(answer_of("x"));
    loop.run_ready();
  }
  EXPECT_EQ(handler.requests.size(), 10U);
}

TEST_F(connection_test, one_frame_above_the_budget_still_passes) {
  open({.max_inflight_bytes = 1000});
  send(framed(std::string(50'000, 'b')));
  ASSERT_EQ(handler.requests.size(), 1U);
  send(framed("waits"));
  EXPECT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(server->inflight_bytes(), 50'000U);
  handler.requests[0].respond(answer(std::nullopt));
  loop.run_ready();
  EXPECT_EQ(handler.requests.size(), 2U);
}

TEST_F(connection_test, an_error_closes_with_its_words) {
  open();
  send(framed("bad"));
  handler.requests[0].respond(fail(errc::bad_address, "unknown api key 99"));
  EXPECT_EQ(cause, close_cause::handler_error);
  EXPECT_NE(reason.find("unknown api key 99"), std::string::npos);
}

TEST_F(connection_test, a_dropped_request_closes_instead_of_hanging) {
  open();
  send(framed("lost"));
  handler.requests.clear();
  loop.run_ready();
  EXPECT_EQ(cause, close_cause::handler_error);
  EXPECT_EQ(closes, 1);
}

TEST_F(connection_test, a_dropped_accepted_counts_as_accepted) {
  handler.accept_at_once = false;
  open();
  send(framed("one"));
  send(framed("two"));
  handler.requests[0].accepted = nullptr;
  loop.run_ready();
  EXPECT_EQ(handler.requests.size(), 2U);
  EXPECT_EQ(closes, 0);
}

TEST_F(connection_test, whole_frames_before_the_end_are_still_handed_over) {
  handler.accept_at_once = false;
  open();
  byte_buffer all;
  for (const auto* text : {"one", "two", "three"}) all.append(framed(text));
  all.append(framed("cut off").slice(0, 6));
  send(all.freeze());
  client->vanish();
  loop.run_ready();
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(handler.requests.size(), i + 1);
    EXPECT_EQ(closes, 0);
    handler.requests[i].accepted();
    loop.run_ready();
  }
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cause, close_cause::peer_closed);
  EXPECT_EQ(handler.requests[2].frame, "three");
}

TEST_F(connection_test, answers_after_the_end_do_nothing) {
  open();
  send(framed("late"));
  client->vanish();
  loop.run_ready();
  EXPECT_EQ(closes, 1);
  server.reset();
  handler.requests[0].respond(answer_of("nobody is there"));
  EXPECT_EQ(closes, 1);
}

TEST_F(connection_test, drain_lets_answers_leave_and_reads_no_more) {
  open();
  read_all();
  send(framed("under way"));
  server->drain();
  send(framed("too late"));
  EXPECT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(closes, 0);
  handler.requests[0].respond(answer_of("done"));
  loop.run_ready();
  EXPECT_EQ(client->frames(), std::vector<std::string>{"done"});
  EXPECT_TRUE(client->ended);
  EXPECT_EQ(cause, close_cause::stopped);
}

TEST_F(connection_test, drain_of_a_quiet_connection_closes_at_once) {
  open();
  server->drain();
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cause, close_cause::stopped);
}

TEST_F(connection_test, large_answers_arrive_whole_through_a_narrow_pipe) {
  open({}, {.buffer_bytes = 1000});
  send(framed("big"));
  std::string big(3'000'000, '\0');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * 31 % 251);
  handler.requests[0].respond(
      answer(std::vector<bytes>{bytes::copy_of(big.substr(0, 1'000'001)), bytes::copy_of(big.substr(1'000'001))}));
  loop.run_ready();
  EXPECT_GE(server->info().unsent_bytes, big.size() - 300'000);
  read_all();
  ASSERT_EQ(client->frames().size(), 1U);
  EXPECT_TRUE(client->frames()[0] == big);
  EXPECT_EQ(server->info().unsent_bytes, 0U);
}

TEST_F(connection_test, a_destroyed_connection_leaves_nothing_behind) {
  open();
  send(framed("x"));
  send(framed("half").slice(0, 6));
  server.reset();
  loop.run_ready();
  EXPECT_EQ(loop.timers(), 0U);
  EXPECT_EQ(closes, 0);
}

}  // namespace
}  // namespace braidmq::net

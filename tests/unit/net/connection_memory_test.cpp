// What all connections together may hold, and a peer that takes no answers.
#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

using namespace std::chrono_literals;

class connection_memory : public connection_fixture {
 protected:
  connection_memory() { context.requests = requests; }

  std::shared_ptr<memory_budget> requests = memory_budget::create(std::size_t{1} << 20U);
};

TEST_F(connection_memory, a_request_holds_its_bytes_as_long_as_somebody_holds_it) {
  handler.keep_frames = true;
  open();
  send(framed("12345"));
  ASSERT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(requests->used_bytes(), 5U);
  handler.requests[0].respond(answer_of("done"));
  loop.run_ready();
  EXPECT_EQ(requests->used_bytes(), 5U) << "answered, but somebody still has its bytes";
  client->vanish();
  loop.run_ready();
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(requests->used_bytes(), 5U);
  handler.kept.clear();
  EXPECT_EQ(requests->used_bytes(), 0U);
}

TEST_F(connection_memory, a_frame_waits_unread_until_there_is_room_for_all_of_it) {
  open();
  memory_lease others = requests->try_take(1'000'000);
  const std::string large(500'000, 'x');
  send(framed(large));
  EXPECT_TRUE(handler.requests.empty());
  EXPECT_EQ(requests->waiting(), 1U);
  EXPECT_LE(server->inflight_bytes(), 16U * 1024) << "only what came with the length";
  loop.advance(60s);
  EXPECT_EQ(closes, 0) << "the peer is not to blame";
  others = {};
  loop.run_ready();
  ASSERT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(handler.requests[0].frame, large);
}

TEST_F(connection_memory, small_frames_wait_whole_and_in_order) {
  open();
  memory_lease others = requests->try_take(std::size_t{1} << 20U);
  send(framed("one"));
  send(framed("two"));
  EXPECT_TRUE(handler.requests.empty());
  others = {};
  loop.run_ready();
  ASSERT_EQ(handler.requests.size(), 2U);
  EXPECT_EQ(handler.requests[0].frame, "one");
  EXPECT_EQ(handler.requests[1].frame, "two");
  EXPECT_EQ(requests->used_bytes(), 0U);
}

// F2 against all: a few frames of which almost nothing comes hold memory that others could use.
TEST_F(connection_memory, a_slow_frame_is_ended_when_others_wait_for_its_memory) {
  requests = memory_budget::create(std::size_t{1} << 20U, unreserved_frame_bytes);
  context.requests = requests;
  open();
  byte_buffer start;
  start.append_be(std::int32_t{700'000});
  start.append(std::string_view("a little"));
  send(start.freeze());
  EXPECT_EQ(requests->used_bytes(), 700'000U);
  const auto drip = [this] {
    for (int second = 0; second < 5 && closes == 0; ++second) {
      send(bytes::copy_of(std::string(20'000, 'x')));
      loop.advance(1s);
    }
  };
  drip();
  EXPECT_EQ(closes, 0) << "nobody waits, so it may take its time";
  memory_lease granted;
  const memory_wait wait = requests->take_when_free(200'000, [&](memory_lease lease) { granted = std::move(lease); });
  EXPECT_TRUE(requests->try_take(50'000)) << "small ones pass";
  drip();
  EXPECT_EQ(cause, close_cause::frame_timeout);
  EXPECT_TRUE(granted);
}

TEST_F(connection_memory, one_that_goes_while_it_waits_takes_nothing) {
  open();
  memory_lease others = requests->try_take(std::size_t{1} << 20U);
  send(framed("one"));
  EXPECT_EQ(requests->waiting(), 1U);
  server->close(close_cause::stopped, "test");
  EXPECT_EQ(requests->waiting(), 0U) << "nothing is left of it, whenever memory comes";
  server.reset();
  others = {};
  loop.run_ready();
  EXPECT_EQ(requests->used_bytes(), 0U);
  EXPECT_EQ(requests->waiting(), 0U);
}

TEST_F(connection_memory, unsent_answers_count_until_the_peer_takes_them) {
  context.answers = memory_budget::create(std::size_t{1} << 20U);
  open({}, {.buffer_bytes = 1000});
  send(framed("ask"));
  handler.requests[0].respond(answer_of(std::string(50'000, 'a')));
  loop.run_ready();
  EXPECT_EQ(context.answers->used_bytes(), 50'004U);
  read_all();
  EXPECT_EQ(context.answers->used_bytes(), 0U);
}

TEST_F(connection_memory, a_peer_that_takes_no_answer_is_let_go) {
  context.answers = memory_budget::create(std::size_t{1} << 20U);
  open({}, {.buffer_bytes = 1000});
  send(framed("ask"));
  handler.requests[0].respond(answer_of(std::string(50'000, 'a')));
  loop.run_ready();
  for (int second = 0; second < 120 && closes == 0; ++second) {
    send(framed("more"));
    loop.advance(1s);
    if (second < 59) ASSERT_EQ(closes, 0) << second;
  }
  EXPECT_EQ(cause, close_cause::write_timeout);
  EXPECT_EQ(context.answers->used_bytes(), 0U);
  EXPECT_TRUE(handler.last_info->ended);
}

}  // namespace
}  // namespace braidmq::net

// What strangers send: rows F1, F2, F3 and F6 of broker/docs/bad-input.md, and N2 and N6 (slow ones, floods).
#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

using namespace std::chrono_literals;

bytes length_only(std::int32_t length) {
  byte_buffer out;
  out.append_be(length);
  return out.freeze();
}

class connection_bad_input : public connection_fixture {};

TEST_F(connection_bad_input, f1_lengths_that_cannot_be_close_and_count_by_cause) {
  const struct {
    std::int32_t length;
    close_cause expected;
  } cases[] = {{0, close_cause::bad_frame_length},
               {-1, close_cause::bad_frame_length},
               {100 * 1024 * 1024 + 1, close_cause::frame_too_large}};
  for (const auto& one : cases) {
    closes = 0;
    open();
    read_all();
    send(length_only(one.length));
    EXPECT_EQ(closes, 1);
    EXPECT_EQ(cause, one.expected);
    EXPECT_NE(reason.find(std::to_string(one.length)), std::string::npos) << reason;
    EXPECT_TRUE(client->ended);
    EXPECT_TRUE(handler.requests.empty());
  }
}

TEST_F(connection_bad_input, f1_good_frames_before_a_bad_length_are_handed_over) {
  open();
  byte_buffer both;
  both.append(framed("good"));
  both.append(length_only(-5));
  send(both.freeze());
  ASSERT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(handler.requests[0].frame, "good");
  EXPECT_EQ(cause, close_cause::bad_frame_length);
  handler.requests[0].respond(answer_of("nobody hears this"));
}

TEST_F(connection_bad_input, f2_a_dripped_frame_costs_what_it_sent_and_ends_by_the_frame_timeout) {
  open();
  send(length_only(90 * 1024 * 1024));
  for (int second = 0; second < 9; ++second) {
    send(bytes::copy_of("x"));
    loop.advance(1s);
    ASSERT_EQ(closes, 0) << second;
    EXPECT_LE(server->inflight_bytes(), 16U);
  }
  send(bytes::copy_of("x"));
  loop.advance(2s);
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cause, close_cause::frame_timeout);
}

TEST_F(connection_bad_input, f2_half_a_length_is_a_started_frame) {
  open();
  send(bytes::copy_of(std::string_view("\0\0", 2)));
  loop.advance(11s);
  EXPECT_EQ(cause, close_cause::frame_timeout);
}

TEST_F(connection_bad_input, f2_a_slow_but_honest_sender_may_take_longer_than_the_timeout) {
  open({.min_frame_bytes_per_s = 1000});
  const std::string payload(60'000, 'p');
  const auto whole = framed(payload);
  for (std::size_t sent = 0; sent < whole.size();) {
    const auto count = std::min<std::size_t>(2000, whole.size() - sent);
    send(whole.slice(sent, count));
    sent += count;
    loop.advance(1s);
  }
  EXPECT_EQ(closes, 0) << reason;
  ASSERT_EQ(handler.requests.size(), 1U);
  EXPECT_EQ(handler.requests[0].frame, payload);
}

TEST_F(connection_bad_input, each_frame_gets_its_own_time) {
  open();
  // Always in the middle of some frame, yet no frame takes long.
  const auto frame = framed("0123456789");
  send(frame.slice(0, 7));
  for (int i = 0; i < 20; ++i) {
    loop.advance(4s);
    byte_buffer rest_and_start;
    rest_and_start.append(frame.slice(7));
    rest_and_start.append(frame.slice(0, 7));
    send(rest_and_start.freeze());
    ASSERT_EQ(closes, 0) << i << " " << reason;
    ASSERT_EQ(handler.requests.size(), static_cast<std::size_t>(i) + 1);
  }
  loop.advance(11s);
  EXPECT_EQ(cause, close_cause::frame_timeout);
}

TEST_F(connection_bad_input, f3_strangers_get_words_in_the_log_and_no_allocation) {
  open();
  send(bytes::copy_of(std::string_view("\x16\x03\x01\x00\xf1\x01\x00\x00\xed\x03\x03", 11)));
  EXPECT_EQ(cause, close_cause::foreign_protocol);
  EXPECT_NE(reason.find("TLS"), std::string::npos) << reason;
  EXPECT_EQ(server->inflight_bytes(), 0U);
  open();
  send(bytes::copy_of("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(cause, close_cause::foreign_protocol);
  EXPECT_NE(reason.find("HTTP"), std::string::npos) << reason;
  EXPECT_EQ(server->inflight_bytes(), 0U);
}

TEST_F(connection_bad_input, f6_a_large_frame_is_refused_by_its_start) {
  open();
  handler.refuse_large = true;
  send(length_only(90 * 1024 * 1024));
  std::size_t most = 0;
  for (int i = 0; i < 100 && closes == 0; ++i) {
    most = std::max(most, server->inflight_bytes());
    send(bytes::copy_of(std::string(4096, 't')));
  }
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cause, close_cause::handler_error);
  EXPECT_NE(reason.find("refused by its start"), std::string::npos) << reason;
  EXPECT_LT(most, large_frame_start_bytes);
  EXPECT_TRUE(handler.requests.empty());
}

TEST_F(connection_bad_input, f6_each_large_frame_is_looked_at_once_and_no_small_one) {
  open();
  for (const std::size_t size : {std::size_t{100}, large_frame_start_bytes, 3 * large_frame_start_bytes}) {
    const auto whole = framed(std::string(size, 'f'));
    for (std::size_t sent = 0; sent < whole.size(); sent += 10'000) {
      send(whole.slice(sent, std::min<std::size_t>(10'000, whole.size() - sent)));
    }
  }
  ASSERT_EQ(handler.requests.size(), 3U);
  ASSERT_EQ(handler.looks.size(), 1U);
  EXPECT_GE(handler.looks[0].first, large_frame_start_bytes);
  EXPECT_EQ(handler.looks[0].second, 3 * large_frame_start_bytes);
}

TEST_F(connection_bad_input, n2_silence_ends_by_the_idle_timeout_and_every_byte_starts_it_anew) {
  open({.idle_timeout = 60s});
  loop.advance(59s);
  EXPECT_EQ(closes, 0);
  handler.echo = true;
  send(framed("hello"));
  loop.advance(59s);
  EXPECT_EQ(closes, 0);
  loop.advance(2s);
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cause, close_cause::idle);
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(connection_bad_input, a_request_that_the_handler_works_on_is_not_idleness) {
  open({.idle_timeout = 10s});
  send(framed("a long poll"));
  loop.advance(60s);
  EXPECT_EQ(closes, 0);
  handler.requests[0].respond(answer_of("at last"));
  read_all();
  EXPECT_EQ(client->frames(), std::vector<std::string>{"at last"});
  loop.advance(21s);
  EXPECT_EQ(cause, close_cause::idle);
}

TEST_F(connection_bad_input, a_stalled_loop_does_not_take_it_out_on_its_peers) {
  open();
  const auto frame = framed("0123456789");
  send(frame.slice(0, 7));
  client->send(frame.slice(7));  // the kernel has it, our loop does not come to it
  loop.stall(30s);
  EXPECT_EQ(closes, 0) << reason;
  EXPECT_EQ(handler.requests.size(), 1U);
}

TEST_F(connection_bad_input, n6_a_reader_that_never_reads_is_muted_at_the_budget_and_ended) {
  const connection_limits limits{.max_inflight_bytes = 100'000, .max_inflight_frames = 1000, .idle_timeout = 60s};
  open(limits, {.buffer_bytes = 10'000});
  handler.echo = true;
  for (int i = 0; i < 500; ++i) client->send(framed(std::string(5000, 'r')));
  loop.run_ready();
  EXPECT_LE(server->inflight_bytes(), limits.max_inflight_bytes + 2 * 5004);
  EXPECT_GE(server->inflight_bytes(), limits.max_inflight_bytes);
  EXPECT_FALSE(client->all_sent());
  EXPECT_LT(handler.requests.size(), 40U);
  EXPECT_EQ(server->info().unsent_bytes, server->inflight_bytes());
  loop.advance(61s);
  EXPECT_EQ(cause, close_cause::write_timeout);
  EXPECT_EQ(server->inflight_bytes(), 0U);
}

TEST_F(connection_bad_input, n6_ten_thousand_pipelined_requests_are_bounded_in_count) {
  open({.max_inflight_frames = 128}, {.buffer_bytes = 1000});
  for (int i = 0; i < 10'000; ++i) client->send(framed("tiny"));
  loop.run_ready();
  EXPECT_EQ(handler.requests.size(), 128U);
  EXPECT_EQ(server->info().inflight_frames, 128U);
  EXPECT_FALSE(client->all_sent());
}

}  // namespace
}  // namespace braidmq::net

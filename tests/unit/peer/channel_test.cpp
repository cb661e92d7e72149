#include "peer/channel.hpp"

#include <gtest/gtest.h>

#include "support/manual_loop.hpp"
#include "support/pipe_stream.hpp"
#include "support/sim_random.hpp"

namespace braidmq::peer {
namespace {

using namespace std::chrono_literals;

class rng_source final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(chance_.below(256));
  }

 private:
  sim::rng chance_{9};
};

// One end, and what it heard.
struct channel_end {
  std::shared_ptr<channel> of;
  std::optional<acquaintance> met;
  std::vector<std::string> frames;
  std::vector<std::string> closed;  // words
  std::error_code why;

  channel_callbacks callbacks() {
    channel_callbacks all;
    all.on_open = [this](const acquaintance& other) { met = other; };
    all.on_frame = [this](const bytes& frame) { frames.emplace_back(as_string_view(frame)); };
    all.on_closed = [this](const error& end) {
      closed.push_back(end.to_string());
      why = end.code;
    };
    return all;
  }
};

class channel_test : public ::testing::Test {
 protected:
  static identity self(std::int32_t broker) { return {model::broker_id(broker), {}, {}, 1}; }
  static secrets known(char of = 's') { return secrets({std::string(32, of)}); }

  void make(const testing::pipe_options& options = {}, char secret_of_second = 's') {
    auto ends = testing::make_pipe(loop_, options);
    first_.of = std::make_shared<channel>(context_, std::move(ends.first),
                                          opening_handshake(self(1), model::broker_id(2), known(), random_), limits_,
                                          first_.callbacks());
    second_.of = std::make_shared<channel>(context_, std::move(ends.second),
                                           taking_handshake(self(2), known(secret_of_second), random_), limits_,
                                           second_.callbacks());
  }
  void open(const testing::pipe_options& options = {}) {
    make(options);
    first_.of->start();
    second_.of->start();
    loop_.run_ready();
    ASSERT_TRUE(first_.of->is_open() && second_.of->is_open());
  }

  testing::manual_loop loop_;
  channel_context context_{loop_, loop_, loop_};
  channel_limits limits_;
  rng_source random_;
  channel_end first_;
  channel_end second_;
};

TEST_F(channel_test, opens_and_carries_frames_both_ways) {
  make();
  EXPECT_FALSE(first_.of->send(bytes::copy_of("too early")));
  first_.of->start();
  second_.of->start();
  loop_.run_ready();
  ASSERT_TRUE(first_.met && second_.met);
  EXPECT_EQ(first_.met->other.broker, model::broker_id(2));
  EXPECT_EQ(second_.met->other.broker, model::broker_id(1));
  EXPECT_TRUE(first_.of->send(bytes::copy_of("a")));
  EXPECT_TRUE(first_.of->send(bytes::copy_of("b")));
  EXPECT_TRUE(second_.of->send(bytes::copy_of("c")));
  EXPECT_FALSE(first_.of->send(bytes()));
  loop_.run_ready();
  EXPECT_EQ(second_.frames, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(first_.frames, std::vector<std::string>{"c"});
  EXPECT_EQ(first_.of->unsent_bytes(), 0U);
  loop_.advance(1h);
  EXPECT_TRUE(first_.of->is_open()) << "silence is no fault";
}

TEST_F(channel_test, frames_of_any_size_come_whole_and_in_order_through_a_narrow_stream) {
  sim::rng chance(3);
  testing::pipe_options narrow;
  narrow.buffer_bytes = 1000;
  narrow.read_bytes = [&] { return 1 + chance.below(300); };
  open(narrow);
  std::vector<std::string> sent;
  for (int i = 0; i < 200; ++i) {
    sent.emplace_back(1 + chance.below(chance.chance(0.1) ? 20'000 : 200), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(first_.of->send(bytes::copy_of(sent.back())));
    if (chance.chance(0.3)) loop_.run_one();
  }
  loop_.run_ready();
  EXPECT_EQ(second_.frames, sent);
}

TEST_F(channel_test, what_waits_is_bounded_by_bytes) {
  limits_.max_unsent_bytes = 10'000;
  limits_.max_frame_bytes = 30'000;
  testing::pipe_options narrow;
  narrow.buffer_bytes = 500;
  open(narrow);
  // Nobody reads: the loop stands still.
  ASSERT_TRUE(first_.of->send(bytes::copy_of(std::string(20'000, 'x')))) << "one of any size when nothing else waits";
  EXPECT_FALSE(first_.of->send(bytes::copy_of("y")));
  loop_.run_ready();
  EXPECT_TRUE(first_.of->send(bytes::copy_of("y")));
  loop_.run_ready();
  ASSERT_EQ(second_.frames.size(), 2U);
  EXPECT_EQ(second_.frames.back(), "y");
  EXPECT_FALSE(first_.of->send(bytes::copy_of(std::string(30'001, 'x')))) << "no larger one than the other takes";
}

TEST_F(channel_test, without_a_common_secret_both_hear_why) {
  make({}, 'x');
  first_.of->start();
  second_.of->start();
  loop_.run_ready();
  EXPECT_EQ(first_.why, errc::no_common_secret);
  EXPECT_EQ(second_.why, errc::no_common_secret);
  EXPECT_EQ(first_.closed.size() + second_.closed.size(), 2U);
  EXPECT_FALSE(first_.met || second_.met);
}

TEST_F(channel_test, a_silent_other_end_is_let_go_of) {
  make();
  first_.of->start();  // the second one never says a word
  loop_.advance(limits_.handshake_timeout - 1ms);
  EXPECT_TRUE(first_.closed.empty());
  loop_.advance(1ms);
  EXPECT_EQ(first_.why, errc::timed_out);
}

TEST_F(channel_test, one_that_takes_nothing_is_let_go_of) {
  auto ends = testing::make_pipe(loop_, {.buffer_bytes = 4096});
  first_.of = std::make_shared<channel>(context_, std::move(ends.first),
                                        opening_handshake(self(1), model::broker_id(2), known(), random_), limits_,
                                        first_.callbacks());
  // The other end by hand: it does the handshake, and reads no more then.
  taking_handshake taking(self(2), known(), random_);
  net::receive_buffer received(1 << 20);
  const auto read_frame = [&]() -> bytes {
    while (true) {
      if (auto frame = received.next_frame()) return *frame;
      bool got = false;
      ends.second->read_some(received.space(), [&](result<std::size_t> count) {
        received.received(*count);
        got = true;
      });
      loop_.run_ready();
      if (!got) return {};
    }
  };
  const auto write_frame = [&](const bytes& frame) {
    byte_buffer length;
    length.append_be(static_cast<std::int32_t>(frame.size()));
    ends.second->write({length.freeze(), frame}, [](const status&) {});
    loop_.run_ready();
  };
  first_.of->start();
  write_frame(*taking.take(read_frame()).send);
  write_frame(*taking.take(read_frame()).send);
  ASSERT_TRUE(first_.of->is_open());
  ASSERT_TRUE(first_.of->send(bytes::copy_of(std::string(50'000, 'x'))));
  loop_.advance(limits_.write_timeout * 2);
  EXPECT_EQ(first_.why, errc::timed_out);
  EXPECT_EQ(first_.closed.size(), 1U);
}

TEST_F(channel_test, the_end_of_the_other_is_heard_once) {
  open();
  second_.of->close();
  loop_.run_ready();
  EXPECT_EQ(first_.closed.size(), 1U);
  EXPECT_TRUE(second_.closed.empty()) << "who closes is not told";
  EXPECT_FALSE(first_.of->send(bytes::copy_of("x")));
  EXPECT_EQ(loop_.timers(), 0U);
}

TEST_F(channel_test, a_stranger_is_let_go_of) {
  auto ends = testing::make_pipe(loop_, {});
  second_.of = std::make_shared<channel>(context_, std::move(ends.second), taking_handshake(self(2), known(), random_),
                                         limits_, second_.callbacks());
  second_.of->start();
  ends.first->write({bytes::copy_of("GET / HTTP/1.1\r\n\r\n")}, [](const status&) {});
  loop_.run_ready();
  EXPECT_EQ(second_.why, errc::bad_frame);
}

TEST_F(channel_test, a_large_frame_in_the_handshake_is_refused_by_its_length) {
  auto ends = testing::make_pipe(loop_, {});
  second_.of = std::make_shared<channel>(context_, std::move(ends.second), taking_handshake(self(2), known(), random_),
                                         limits_, second_.callbacks());
  second_.of->start();
  byte_buffer length;
  length.append_be(std::int32_t{100'000'000});
  ends.first->write({length.freeze()}, [](const status&) {});
  loop_.run_ready();
  EXPECT_EQ(second_.why, errc::bad_frame);
}

// A callback may let go of the channel whatever else is under way.
TEST_F(channel_test, may_be_let_go_of_inside_a_callback) {
  make();
  channel_callbacks dropping;
  dropping.on_open = [this](const acquaintance&) { second_.of.reset(); };
  auto ends = testing::make_pipe(loop_, {});
  first_.of = std::make_shared<channel>(context_, std::move(ends.first),
                                        opening_handshake(self(1), model::broker_id(2), known(), random_), limits_,
                                        first_.callbacks());
  second_.of = std::make_shared<channel>(context_, std::move(ends.second), taking_handshake(self(2), known(), random_),
                                         limits_, std::move(dropping));
  first_.of->start();
  second_.of->start();
  loop_.run_ready();
  EXPECT_EQ(second_.of, nullptr);
  EXPECT_EQ(first_.closed.size(), 1U);
  EXPECT_EQ(loop_.timers(), 0U);
}

}  // namespace
}  // namespace braidmq::peer

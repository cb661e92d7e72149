// What producers with several requests in flight rely on: requests enter in order, answers leave in order.
#include <random>

#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

using namespace std::chrono_literals;

// Suspends at random before it accepts and before it answers, and checks that no frame comes before it accepted the
// last.
class suspending_handler final : public frame_handler {
 public:
  suspending_handler(testing::manual_loop& loop, unsigned seed) : loop_(loop), random_(seed) {}

  void handle(const std::shared_ptr<connection_info>&, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<answer>)> respond) override {
    EXPECT_FALSE(accepting_) << "handed over before the last one was accepted";
    accepting_ = true;
    const bool accept_last = random_() % 5 == 0;  // answers before it accepts: a refused request
    auto text = std::string(as_string_view(frame));
    auto accept = [this, text, accepted = std::move(accepted)]() mutable {
      order.push_back(text);
      accepting_ = false;
      accepted();
    };
    if (accept_last) {
      answer_later(text, std::move(respond));
      later(std::move(accept));
    } else {
      later([this, text, accept = std::move(accept), respond = std::move(respond)]() mutable {
        answer_later(text, std::move(respond));
        accept();
      });
    }
  }

  std::vector<std::string> order;
  std::vector<std::string> answered;

 private:
  void answer_later(const std::string& text, unique_function<void(result<answer>)> respond) {
    later([this, text, respond = std::move(respond)]() mutable {
      answered.push_back(text);
      if (text.ends_with("-acks0")) return respond(answer(std::nullopt));
      std::vector<bytes> parts;
      for (std::size_t at = 0; at < text.size(); at += 3) parts.push_back(bytes::copy_of(text.substr(at, 3)));
      respond(answer(std::move(parts)));
    });
  }
  void later(unique_function<void()> work) {
    switch (random_() % 3) {
      case 0:
        return work();
      case 1:
        return loop_.post(std::move(work));
      default:
        loop_.schedule(std::chrono::milliseconds(random_() % 20), std::move(work));
    }
  }

  testing::manual_loop& loop_;
  std::mt19937 random_;
  bool accepting_ = false;
};

TEST(connection_order, requests_enter_and_answers_leave_in_order_whatever_suspends) {
  bool reordered = false;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed * 7919);
    testing::manual_loop loop;
    suspending_handler handler(loop, seed);
    auto ends = testing::make_pipe(
        loop, {.buffer_bytes = 50 + random() % 500, .read_bytes = [&random] { return random() % 60 + 1; }});
    peer client(std::move(ends.first));
    int closes = 0;
    auto server = std::make_shared<connection>(
        connection_context{loop, loop, loop}, std::move(ends.second), std::make_shared<connection_info>(),
        connection_limits{.max_inflight_bytes = 2000, .max_inflight_frames = 8}, handler,
        [&](const connection_info&, close_cause, const std::string&) { ++closes; });
    server->start();
    client.read_all();
    std::vector<std::string> sent;
    std::vector<std::string> expected;
    for (int i = 0; i < 200; ++i) {
      auto text = std::to_string(i) + std::string(random() % 120, '.');
      if (random() % 4 == 0)
        text += "-acks0";
      else
        expected.push_back(text);
      client.send(framed(text));
      sent.push_back(std::move(text));
    }
    loop.advance(20s);
    ASSERT_EQ(handler.order, sent) << "seed " << seed;
    ASSERT_EQ(client.frames(), expected) << "seed " << seed;
    ASSERT_EQ(closes, 0);
    ASSERT_EQ(server->inflight_bytes(), 0U);
    ASSERT_EQ(server->info().inflight_frames, 0U);
    reordered = reordered || handler.answered != sent;
  }
  EXPECT_TRUE(reordered) << "the test must complete some requests out of order";
}

// The peer goes away after any number of steps; whatever the handler still holds is called or dropped afterwards.
TEST(connection_order, the_peer_may_vanish_at_any_moment) {
  std::size_t ends_seen = 0;
  for (unsigned step = 0; step < 300; ++step) {
    testing::manual_loop loop;
    suspending_handler handler(loop, step);
    std::mt19937 random(step);
    auto ends = testing::make_pipe(loop, {.buffer_bytes = 200, .read_bytes = [&random] { return random() % 50 + 1; }});
    auto client = std::make_unique<peer>(std::move(ends.first));
    std::shared_ptr<connection> server;
    int closes = 0;
    server = std::make_shared<connection>(connection_context{loop, loop, loop}, std::move(ends.second),
                                          std::make_shared<connection_info>(), connection_limits{}, handler,
                                          [&](const connection_info&, close_cause why, const std::string& words) {
                                            ++closes;
                                            EXPECT_EQ(why, close_cause::peer_closed) << words;
                                            server.reset();
                                          });
    server->start();
    client->read_all();
    for (int i = 0; i < 20; ++i) client->send(framed(std::to_string(i) + std::string(30, '.')));
    unsigned done = 0;
    while (done < step && loop.run_one()) ++done;
    for (; done < step; ++done) loop.advance(1ms);
    client->vanish();
    loop.advance(10s);
    EXPECT_EQ(closes, 1) << "step " << step;
    ends_seen += static_cast<std::size_t>(closes);
  }
  EXPECT_EQ(ends_seen, 300U);
}

}  // namespace
}  // namespace braidmq::net

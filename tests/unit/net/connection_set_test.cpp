#include "net/connection_set.hpp"

#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

using namespace std::chrono_literals;

class connection_set_test : public ::testing::Test {
 protected:
  void make(std::size_t max, std::size_t max_per_ip) {
    limiter = std::make_shared<connection_limiter>(max, max_per_ip);
    set = std::make_unique<connection_set>(connection_context{loop, loop, loop}, "PLAINTEXT", connection_limits{},
                                           handler, limiter,
                                           [this](const connection_info& info, close_cause cause, const std::string&) {
                                             log.push_back(info.remote + " " + std::string(to_string(cause)));
                                           });
  }
  peer& connect(const std::string& remote) {
    auto ends = testing::make_pipe(loop, {.first_name = remote});
    clients.push_back(std::make_unique<peer>(std::move(ends.first)));
    set->add(std::move(ends.second));
    loop.run_ready();
    clients.back()->read_all();
    loop.run_ready();
    return *clients.back();
  }

  testing::manual_loop loop;
  holding_handler handler;
  std::shared_ptr<connection_limiter> limiter;
  std::vector<std::unique_ptr<peer>> clients;
  std::vector<std::string> log;
  std::unique_ptr<connection_set> set;
};

TEST_F(connection_set_test, n1_excess_is_closed_and_counted_by_cause) {
  make(3, 2);
  EXPECT_FALSE(connect("10.0.0.1:1").ended);
  auto& second = connect("10.0.0.1:2");
  EXPECT_FALSE(second.ended);
  EXPECT_TRUE(connect("10.0.0.1:3").ended);
  EXPECT_FALSE(connect("[::1]:4").ended);
  EXPECT_TRUE(connect("10.0.0.9:5").ended);
  EXPECT_EQ(set->size(), 3U);
  EXPECT_EQ(set->ended()[close_cause::too_many], 1U);
  EXPECT_EQ(set->ended()[close_cause::too_many_of_ip], 1U);
  EXPECT_EQ(log, (std::vector<std::string>{"10.0.0.1:3 too_many_of_ip", "10.0.0.9:5 too_many"}));
  second.close();  // makes room for its address
  loop.run_ready();
  EXPECT_EQ(set->ended()[close_cause::peer_closed], 1U);
  EXPECT_FALSE(connect("10.0.0.1:6").ended);
  EXPECT_EQ(limiter->connections(), 3U);
}

TEST_F(connection_set_test, connections_are_told_apart) {
  make(10, 10);
  connect("10.0.0.1:1").send(framed("x"));
  loop.run_ready();
  const auto first = handler.last_info->id;
  connect("10.0.0.1:2").send(framed("y"));
  loop.run_ready();
  EXPECT_NE(handler.last_info->id, first);
  EXPECT_EQ(handler.last_info->listener, "PLAINTEXT");
}

TEST_F(connection_set_test, drain_waits_for_answers_under_way_and_takes_nobody_new) {
  make(10, 10);
  connect("10.0.0.1:1").send(framed("under way"));
  connect("10.0.0.1:2");
  bool done = false;
  set->drain(30s, [&] { done = true; });
  loop.run_ready();
  EXPECT_EQ(set->size(), 1U);
  EXPECT_TRUE(connect("10.0.0.1:3").ended);
  EXPECT_FALSE(done);
  handler.requests[0].respond(answer_of("done"));
  loop.run_ready();
  EXPECT_TRUE(done);
  EXPECT_EQ(clients[0]->frames(), std::vector<std::string>{"done"});
  EXPECT_EQ(limiter->connections(), 0U);
  EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(connection_set_test, drain_ends_by_its_deadline) {
  make(10, 10);
  connect("10.0.0.1:1").send(framed("never answered"));
  loop.run_ready();
  bool done = false;
  set->drain(30s, [&] { done = true; });
  loop.advance(29s);
  EXPECT_FALSE(done);
  loop.advance(2s);
  EXPECT_TRUE(done);
  EXPECT_EQ(set->ended()[close_cause::stopped], 1U);
}

TEST_F(connection_set_test, drain_of_an_empty_set_is_done_at_once) {
  make(10, 10);
  bool done = false;
  set->drain(30s, [&] { done = true; });
  EXPECT_TRUE(done);
}

TEST_F(connection_set_test, goes_with_open_connections) {
  make(10, 10);
  connect("10.0.0.1:1").send(framed("x"));
  loop.run_ready();
  set.reset();
  loop.run_ready();
  EXPECT_TRUE(clients[0]->ended);
  EXPECT_EQ(limiter->connections(), 0U);
  handler.requests[0].respond(answer_of("too late"));
}

TEST(connection_limiter, takes_the_ip_of_a_remote) {
  EXPECT_EQ(ip_of("10.0.0.7:51234"), "10.0.0.7");
  EXPECT_EQ(ip_of("[::1]:51234"), "[::1]");
}

}  // namespace
}  // namespace braidmq::net

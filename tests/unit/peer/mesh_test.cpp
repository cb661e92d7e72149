#include "peer/mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_loop.hpp"
#include "support/pipe_stream.hpp"
#include "support/sim_random.hpp"

namespace braidmq::peer {
namespace {

using namespace std::chrono_literals;

constexpr raft::group_id data_group{1};

uuid life(std::uint8_t number) {
  uuid made;
  made.octets.fill(number);
  return made;
}

class dice final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(chance_.below(256));
  }

 private:
  sim::rng chance_{4};
};

// A few brokers on one loop, each at the address "broker-N:9094".
class mesh_test : public ::testing::Test {
 protected:
  struct node {
    std::unique_ptr<mesh> of;
    std::vector<raft::message> heard;
  };

  node& start(std::int32_t broker, std::uint8_t incarnation, char secret = 's', uuid cluster = {}) {
    node& made = nodes_[broker];
    made = {};
    mesh_environment environment{
        loop_, loop_, loop_, dice_, [this](const io::endpoint& to, io::duration, auto done) {
          ++attempts_;
          loop_.post([this, to, done = std::move(done)]() mutable { connect(to, std::move(done)); });
        }};
    made.of = std::make_unique<mesh>(std::move(environment),
                                     identity{model::broker_id(broker), life(incarnation), cluster, 1},
                                     secrets({std::string(32, secret)}), options_);
    made.of->listen(data_group, [&made](raft::message message) { made.heard.push_back(std::move(message)); });
    return made;
  }
  static io::endpoint at(std::int32_t broker) { return {.host = fmt::format("broker-{}", broker), .port = 9094}; }
  void introduce(std::int32_t a, std::int32_t b) {
    nodes_.at(a).of->set_address(model::broker_id(b), at(b));
    nodes_.at(b).of->set_address(model::broker_id(a), at(a));
    loop_.run_ready();
  }
  peer_status seen(std::int32_t by, std::int32_t of) { return nodes_.at(by).of->status_of(model::broker_id(of)); }
  void send(std::int32_t from, std::uint8_t from_life, std::int32_t to, std::uint8_t to_life, std::uint64_t commit) {
    nodes_.at(from).of->send(
        data_group,
        {{from, life(from_life)}, {to, life(to_life)}, raft::term(3), raft::commit_notice{raft::index(commit)}});
    loop_.run_ready();
  }

  testing::manual_loop loop_;
  dice dice_;
  mesh_options options_;
  std::map<std::int32_t, node> nodes_;
  std::map<std::string, std::int32_t> elsewhere_;  // who answers at an address that is another's
  int attempts_ = 0;

 private:
  void connect(const io::endpoint& to, unique_function<void(result<std::unique_ptr<io::stream>>)> done) {
    const auto moved = elsewhere_.find(to.host);
    const std::int32_t broker = moved != elsewhere_.end() ? moved->second : std::stoi(to.host.substr(7));
    const auto found = nodes_.find(broker);
    if (found == nodes_.end() || found->second.of == nullptr) return done(fail(io::errc::closed, "nobody listens"));
    auto ends = testing::make_pipe(loop_);
    found->second.of->take(std::move(ends.second));
    done(std::unique_ptr<io::stream>(std::move(ends.first)));
  }
};

TEST_F(mesh_test, brokers_reach_each_other_and_messages_arrive) {
  start(1, 11);
  start(2, 12);
  introduce(1, 2);
  EXPECT_TRUE(seen(1, 2).reachable && seen(1, 2).heard);
  EXPECT_TRUE(seen(2, 1).reachable && seen(2, 1).heard);
  EXPECT_EQ(seen(1, 2).incarnation, life(12));
  EXPECT_EQ(seen(1, 2).trouble, "");
  send(1, 11, 2, 12, 5);
  ASSERT_EQ(nodes_.at(2).heard.size(), 1U);
  const raft::message& got = nodes_.at(2).heard[0];
  EXPECT_EQ(got.from, (raft::node_id{1, life(11)}));
  EXPECT_EQ(got.to, (raft::node_id{2, life(12)}));
  EXPECT_EQ(std::get<raft::commit_notice>(got.body).commit, raft::index(5));

  raft::append_request append{raft::index(7), raft::term(3), raft::index(6), {}};
  append.entries.push_back({raft::term(3), raft::index(8), raft::entry_kind::command, bytes::copy_of("entry")});
  nodes_.at(2).of->send(data_group, {{2, life(12)}, {1, life(11)}, raft::term(3), append});
  loop_.run_ready();
  ASSERT_EQ(nodes_.at(1).heard.size(), 1U);
  EXPECT_EQ(std::get<raft::append_request>(nodes_.at(1).heard[0].body).entries.size(), 1U);
}

TEST_F(mesh_test, one_that_is_not_there_yet_is_tried_again_with_growing_pauses) {
  start(1, 11);
  nodes_.at(1).of->set_address(model::broker_id(2), at(2));
  loop_.advance(10s);
  EXPECT_FALSE(seen(1, 2).reachable);
  EXPECT_THAT(seen(1, 2).trouble, ::testing::HasSubstr("nobody listens"));
  // Two lines: a few quick attempts, then one in at most two seconds and at least one.
  EXPECT_GE(attempts_, 2 * 8);
  EXPECT_LE(attempts_, 2 * 18);
  send(1, 11, 2, 12, 5);
  EXPECT_EQ(nodes_.at(1).of->statistics().messages_dropped, 1U);
  start(2, 12);
  loop_.advance(options_.longest_pause);
  EXPECT_TRUE(seen(1, 2).reachable);
}

TEST_F(mesh_test, connections_come_back_after_a_restart_in_another_life_too) {
  start(1, 11);
  start(2, 12);
  introduce(1, 2);
  nodes_.at(2).of.reset();
  loop_.run_ready();
  EXPECT_FALSE(seen(1, 2).reachable);
  EXPECT_FALSE(seen(1, 2).heard);
  start(2, 13);
  loop_.advance(options_.longest_pause);
  introduce(1, 2);
  loop_.advance(options_.longest_pause);
  ASSERT_TRUE(seen(1, 2).reachable);
  EXPECT_EQ(seen(1, 2).incarnation, life(13));
  send(1, 11, 2, 12, 5);
  EXPECT_TRUE(nodes_.at(2).heard.empty()) << "what was meant for the life before";
  send(1, 11, 2, 13, 6);
  EXPECT_EQ(nodes_.at(2).heard.size(), 1U);
}

TEST_F(mesh_test, another_secret_or_cluster_or_broker_is_named) {
  start(1, 11, 's', life(90));
  start(2, 12, 'x', life(90));
  start(3, 13, 's', life(91));
  start(4, 14, 's', life(90));
  introduce(1, 2);
  introduce(1, 3);
  elsewhere_["broker-5"] = 4;
  nodes_.at(1).of->set_address(model::broker_id(5), at(5));
  loop_.run_ready();
  EXPECT_THAT(seen(1, 2).trouble, ::testing::HasSubstr("no secret is common"));
  EXPECT_THAT(seen(1, 3).trouble, ::testing::HasSubstr("another cluster"));
  EXPECT_THAT(seen(1, 5).trouble, ::testing::HasSubstr("broker 5 was meant, and broker 4 answers"));
}

TEST_F(mesh_test, another_address_takes_the_place_of_the_one_before) {
  start(1, 11);
  start(2, 12);
  nodes_.at(1).of->set_address(model::broker_id(2), at(7));  // nobody is there
  loop_.advance(1s);
  nodes_.at(1).of->set_address(model::broker_id(2), at(2));
  loop_.run_ready();
  EXPECT_TRUE(seen(1, 2).reachable);
  const int before = attempts_;
  nodes_.at(1).of->set_address(model::broker_id(2), at(2));
  loop_.advance(10s);
  EXPECT_EQ(attempts_, before) << "the same address changes nothing, and the old one is not tried any more";
}

TEST_F(mesh_test, strangers_are_bounded) {
  options_.max_strangers = 3;
  node& one = start(1, 11);
  std::vector<std::unique_ptr<io::stream>> silent;
  for (int i = 0; i < 10; ++i) {
    auto ends = testing::make_pipe(loop_);
    one.of->take(std::move(ends.second));
    silent.push_back(std::move(ends.first));
  }
  loop_.run_ready();
  EXPECT_EQ(one.of->statistics().strangers_refused, 7U);
  loop_.advance(options_.channel.handshake_timeout);
  start(2, 12);
  introduce(1, 2);
  EXPECT_TRUE(seen(2, 1).reachable) << "the silent ones are gone";
}

TEST_F(mesh_test, of_the_connections_of_one_broker_the_oldest_make_room) {
  options_.max_of_broker = 4;
  node& one = start(1, 11);
  std::vector<std::unique_ptr<mesh>> doubles;
  for (int i = 0; i < 6; ++i) {
    start(2, 12);
    nodes_.at(2).of->set_address(model::broker_id(1), at(1));
    loop_.run_ready();
    doubles.push_back(std::move(nodes_.at(2).of));
  }
  EXPECT_EQ(one.of->statistics().made_room, 8U);
  EXPECT_TRUE(seen(1, 2).heard);
  nodes_.at(2).of = std::move(doubles.back());
  send(2, 12, 1, 11, 5);
  EXPECT_EQ(one.heard.size(), 1U) << "the newest ones stand";
}

TEST_F(mesh_test, frames_for_nobody_are_counted) {
  start(1, 11);
  start(2, 12);
  introduce(1, 2);
  nodes_.at(1).of->send(raft::group_id(77), {{1, life(11)}, {2, life(12)}, raft::term(3), raft::timeout_now{}});
  loop_.run_ready();
  EXPECT_EQ(nodes_.at(2).of->statistics().frames_refused, 1U);
  EXPECT_TRUE(nodes_.at(2).heard.empty());
}

TEST_F(mesh_test, stops_with_connections_in_every_state) {
  start(1, 11);
  start(2, 12);
  introduce(1, 2);
  nodes_.at(1).of->set_address(model::broker_id(3), at(3));
  nodes_.at(1).of->stop();
  loop_.advance(10s);
  EXPECT_FALSE(seen(2, 1).reachable);
  const int before = attempts_;
  nodes_.at(1).of.reset();
  nodes_.at(2).of.reset();
  loop_.advance(10s);
  EXPECT_EQ(attempts_, before);
  EXPECT_EQ(loop_.timers(), 0U);
}

}  // namespace
}  // namespace braidmq::peer

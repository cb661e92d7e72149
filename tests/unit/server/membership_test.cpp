// A cluster of three from the first start on: folders, connections and the founding, without the brokers themselves.
#include "server/membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metadata/errc.hpp"
#include "server/metadata_forwarding.hpp"
#include "sim/world/random_bytes.hpp"
#include "support/manual_loop.hpp"
#include "support/pipe_stream.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint16_t metadata_port = 9095;
constexpr std::uint16_t braid_port = 9094;

class membership_test : public ::testing::Test {
 protected:
  struct machine {
    std::unique_ptr<sim::sim_file_system> disk = std::make_unique<sim::sim_file_system>();
    std::unique_ptr<membership> runs;
    bool born = false;
  };

  static io::endpoint at(std::int32_t broker, std::uint16_t port) { return {fmt::format("broker-{}", broker), port}; }

  membership_options options(std::int32_t id) {
    membership_options made;
    made.id = model::broker_id(id);
    made.data_dir = "/data";
    made.wal_dir = "/wal";
    made.secrets = {std::string(32, 's')};
    for (std::int32_t i = 0; i < 3; ++i) {
      made.voters.push_back({model::broker_id(i), at(i, metadata_port), at(i, braid_port)});
    }
    return made;
  }

  status start(std::int32_t id) { return start(id, options(id)); }
  status start(std::int32_t id, membership_options with) {
    machine& on = machines_[id];
    on.runs.reset();
    on.born = false;
    const auto connect = [this](const io::endpoint& to, io::duration, auto done) {
      loop_.post([this, to, done = std::move(done)]() mutable { connect_to(to, std::move(done)); });
    };
    auto opened = membership::open(std::move(with),
                                   {*on.disk, random_, loop_, loop_, loop_, connect, loop_, loop_, connect, loop_},
                                   [](const error& why) { ADD_FAILURE() << why.to_string(); });
    if (!opened) return tl::unexpected(std::move(opened).error());
    on.runs = std::move(*opened);
    on.runs->start([&on] { on.born = true; });
    loop_.run_ready();
    return {};
  }
  void stop(std::int32_t id) {
    machine& on = machines_[id];
    if (!on.runs) return;
    on.runs->stop_metadata();
    on.runs->stop_braid();
    loop_.run_ready();
    on.runs.reset();
  }
  void empty(std::int32_t id) {
    stop(id);
    machines_[id].disk = std::make_unique<sim::sim_file_system>();
  }
  void start_all() {
    for (std::int32_t i = 0; i < 3; ++i) ASSERT_TRUE(start(i).has_value());
    loop_.advance(10s);
    for (std::int32_t i = 0; i < 3; ++i) ASSERT_TRUE(machines_[i].born) << i;
  }
  const membership& of(std::int32_t id) { return *machines_[id].runs; }
  std::vector<raft::node_id> lives() {
    std::vector<raft::node_id> all;
    for (auto& [id, one] : machines_) all.push_back({id, one.runs->incarnation()});
    return all;
  }

  testing::manual_loop loop_;
  sim::random_bytes random_{7};
  std::map<std::int32_t, machine> machines_;

 private:
  void connect_to(const io::endpoint& to, unique_function<void(result<std::unique_ptr<io::stream>>)> done) {
    const auto found = machines_.find(std::stoi(to.host.substr(7)));
    if (found == machines_.end() || found->second.runs == nullptr) {
      return done(fail(io::errc::closed, "nobody listens"));
    }
    auto ends = testing::make_pipe(loop_);
    if (to.port == metadata_port)
      found->second.runs->take_metadata(std::move(ends.second));
    else
      found->second.runs->take_braid(std::move(ends.second));
    done(std::unique_ptr<io::stream>(std::move(ends.first)));
  }
};

TEST_F(membership_test, is_born_when_all_are_there_and_names_who_is_missing) {
  ASSERT_TRUE(start(2).has_value());
  ASSERT_TRUE(start(0).has_value());
  loop_.advance(30s);
  EXPECT_FALSE(of(0).is_born());
  EXPECT_THAT(of(0).waits_for(), Contains(HasSubstr("broker 1 is missing")));
  EXPECT_THAT(of(2).waits_for(), Contains(HasSubstr("broker 1 is missing")));
  ASSERT_TRUE(start(1).has_value());
  loop_.advance(10s);
  for (std::int32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(machines_[i].born) << i;
    EXPECT_EQ(of(i).voters(), lives());
    EXPECT_EQ(of(i).cluster_id(), of(0).cluster_id());
    EXPECT_THAT(of(i).waits_for(), IsEmpty());
  }
}

TEST_F(membership_test, later_starts_need_nobody_and_reach_the_others_in_both_meshes) {
  start_all();
  const std::optional<uuid> cluster = of(0).cluster_id();
  for (std::int32_t i = 0; i < 3; ++i) stop(i);
  ASSERT_TRUE(start(1).has_value());
  EXPECT_TRUE(of(1).is_born());
  EXPECT_TRUE(machines_[1].born);
  EXPECT_EQ(of(1).cluster_id(), cluster);
  EXPECT_FALSE(of(1).is_reachable(model::broker_id(2)));
  ASSERT_TRUE(start(2).has_value());
  loop_.advance(5s);
  EXPECT_TRUE(of(1).is_reachable(model::broker_id(2)));
  EXPECT_TRUE(machines_[1].runs->braid_mesh().status_of(model::broker_id(2)).reachable);

  std::vector<raft::message> heard;
  machines_[2].runs->listen_braid(raft::group_id(1), [&](raft::message one) { heard.push_back(std::move(one)); });
  machines_[1].runs->braid_transport()->send(
      raft::group_id(1), {of(1).voters()[1], of(1).voters()[2], raft::term(3), raft::commit_notice{raft::index(9)}});
  loop_.advance(1s);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].from, of(1).voters()[1]);
}

TEST_F(membership_test, one_that_missed_the_end_of_the_founding_hears_of_it_later) {
  for (std::int32_t i = 0; i < 3; ++i) ASSERT_TRUE(start(i).has_value());
  for (int i = 0; i < 2000 && !(machines_[0].born && !machines_[2].born); ++i) loop_.advance(1ms);
  stop(2);
  loop_.advance(10s);
  EXPECT_TRUE(machines_[0].born && machines_[1].born);
  ASSERT_TRUE(start(2).has_value());
  loop_.advance(10s);
  EXPECT_TRUE(machines_[2].born);
  EXPECT_EQ(of(2).cluster_id(), of(0).cluster_id());
}

TEST_F(membership_test, empty_folders_found_nothing_and_are_told_why) {
  start_all();
  const std::optional<uuid> cluster = of(0).cluster_id();
  // The founder and another one have lost everything, the third one has not.
  empty(0);
  empty(1);
  ASSERT_TRUE(start(0).has_value());
  ASSERT_TRUE(start(1).has_value());
  loop_.advance(60s);
  EXPECT_FALSE(of(0).is_born());
  EXPECT_FALSE(of(1).is_born());
  EXPECT_THAT(of(0).waits_for(), Contains(HasSubstr("in another life")));
  EXPECT_EQ(of(2).cluster_id(), cluster);
  // Also when the third one is away for a while.
  stop(2);
  loop_.advance(60s);
  EXPECT_FALSE(of(0).is_born() || of(1).is_born());
  EXPECT_THAT(of(0).waits_for(), Contains(HasSubstr("broker 2 is missing")));
  EXPECT_FALSE(of(0).is_reachable(model::broker_id(2)));
}

TEST_F(membership_test, an_old_copy_of_the_folders_from_before_the_founding_does_not_take_part) {
  ASSERT_TRUE(start(1).has_value());
  auto copy = machines_[1].disk->copy(3);
  ASSERT_TRUE(start(0).has_value());
  ASSERT_TRUE(start(2).has_value());
  loop_.advance(10s);
  ASSERT_TRUE(machines_[1].born);
  stop(1);
  machines_[1].disk = std::move(copy);
  ASSERT_TRUE(start(1).has_value());
  loop_.advance(60s);
  EXPECT_FALSE(of(1).is_born());
  EXPECT_THAT(of(1).waits_for(), Contains(HasSubstr("an old copy")));
}

TEST_F(membership_test, under_existing_nobody_founds) {
  for (std::int32_t i = 0; i < 3; ++i) ASSERT_TRUE(start(i).has_value());
  // Formatted, and not further: then the configuration says that the cluster exists.
  for (std::int32_t i = 0; i < 3; ++i) {
    empty(i);
    ASSERT_TRUE(start(i).has_value());
    stop(i);
  }
  for (std::int32_t i = 0; i < 3; ++i) {
    membership_options existing = options(i);
    existing.may_found = false;
    ASSERT_TRUE(start(i, existing).has_value());
  }
  loop_.advance(60s);
  for (std::int32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(of(i).is_born());
    EXPECT_THAT(of(i).waits_for(), Contains(HasSubstr("no voter knows of a cluster")));
  }
}

TEST_F(membership_test, under_existing_a_broker_with_empty_folders_runs_and_says_why_it_takes_no_part) {
  start_all();
  EXPECT_TRUE(of(0).is_reachable(model::broker_id(1)));
  empty(1);
  membership_options existing = options(1);
  existing.may_found = false;
  ASSERT_TRUE(start(1, existing).has_value());
  loop_.advance(60s);
  EXPECT_FALSE(of(1).is_born());
  EXPECT_THAT(of(1).waits_for(), Contains(HasSubstr("in another life")));
  EXPECT_FALSE(of(0).is_reachable(model::broker_id(1))) << "nothing can be handed over to it";
}

TEST_F(membership_test, folders_and_configuration_that_do_not_fit_are_refused_in_words) {
  start_all();
  stop(0);
  const auto refusal = [this](membership_options with) {
    const status started = start(0, std::move(with));
    return started ? std::string("it started") : started.error().to_string();
  };
  membership_options other_cluster = options(0);
  other_cluster.cluster_id = random_.next_uuid();
  EXPECT_THAT(refusal(other_cluster), HasSubstr("but cluster.id is"));
  membership_options alone = options(0);
  alone.voters.clear();
  EXPECT_THAT(refusal(alone), HasSubstr("belongs to a cluster with the voters 0, 1, 2"));
  ASSERT_TRUE(machines_[0].disk->make_directories("/lost").has_value());
  membership_options half = options(0);
  half.data_dir = "/lost";
  EXPECT_THAT(refusal(half), HasSubstr("attach the lost volume"));
  machines_[0].disk->flip_bits("/wal/braidmq.founding", 9, 1);
  EXPECT_THAT(refusal(options(0)), HasSubstr("braidmq.founding"));
  machines_[0].disk->flip_bits("/wal/braidmq.founding", 9, 1);
  EXPECT_THAT(refusal(options(0)), HasSubstr("it started"));
}

TEST_F(membership_test, the_folders_of_a_cluster_of_one_do_not_become_those_of_three) {
  membership_options alone = options(0);
  alone.voters.clear();
  ASSERT_TRUE(start(0, alone).has_value());
  EXPECT_TRUE(of(0).is_born());
  ASSERT_TRUE(machines_[0].disk->make_directories("/wal/metadata").has_value());
  stop(0);
  const status three = start(0);
  ASSERT_FALSE(three.has_value());
  EXPECT_THAT(three.error().to_string(), HasSubstr("was a cluster of its own"));
}

// ---- commands on their way to the leader of the metadata quorum ----

class forwarding_test : public membership_test {
 protected:
  void SetUp() override {
    start_all();
    for (std::int32_t i = 0; i < 3; ++i) {
      links_[i] = std::make_unique<metadata_forwarding>(machines_[i].runs->metadata_mesh(), loop_, loop_);
      links_[i]->listen([this, i](const bytes& command, auto done) {
        heard_.emplace_back(i, as_string_view(command.view()));
        answer_ = std::move(done);
      });
      machines_[i].runs->on_reach([this, i](model::broker_id other, bool is_there) {
        if (!is_there) links_[i]->gone(other);
      });
    }
  }
  void propose(std::int32_t from, std::int32_t to, std::string_view command) {
    links_[from]->propose(of(from).voters()[static_cast<std::size_t>(to)], bytes::copy_of(command), 10s,
                          [this](result<metadata::proposed> outcome) { outcomes_.push_back(std::move(outcome)); });
    loop_.run_ready();
  }

  std::map<std::int32_t, std::unique_ptr<metadata_forwarding>> links_;
  std::vector<std::pair<std::int32_t, std::string>> heard_;
  unique_function<void(result<metadata::proposed>)> answer_;
  std::vector<result<metadata::proposed>> outcomes_;
};

TEST_F(forwarding_test, commands_arrive_and_their_place_in_the_log_comes_back) {
  propose(0, 2, "make a topic");
  ASSERT_EQ(heard_.size(), 1U);
  EXPECT_EQ(heard_[0], std::make_pair(2, std::string("make a topic")));
  answer_(metadata::proposed{raft::index(7), raft::term(3)});
  loop_.run_ready();
  ASSERT_EQ(outcomes_.size(), 1U);
  ASSERT_TRUE(outcomes_[0].has_value());
  EXPECT_EQ(outcomes_[0]->index, raft::index(7));
  EXPECT_EQ(outcomes_[0]->term, raft::term(3));

  propose(0, 2, "another");
  answer_(fail(metadata::errc::not_controller, "somebody else leads"));
  loop_.run_ready();
  EXPECT_EQ(outcomes_[1].error().code, metadata::errc::not_controller);
  EXPECT_THAT(outcomes_[1].error().message, HasSubstr("somebody else leads"));
}

TEST_F(forwarding_test, silence_and_a_lost_connection_leave_nothing_waiting) {
  propose(0, 2, "one");
  loop_.advance(11s);
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error().code, metadata::errc::timed_out);
  propose(0, 2, "two");
  stop(2);
  loop_.advance(1s);
  ASSERT_EQ(outcomes_.size(), 2U);
  EXPECT_EQ(outcomes_[1].error().code, metadata::errc::timed_out);
  propose(0, 2, "three");
  ASSERT_EQ(outcomes_.size(), 3U);
  EXPECT_EQ(outcomes_[2].error().code, metadata::errc::not_controller);
}

TEST_F(forwarding_test, what_waits_is_bounded) {
  for (std::size_t i = 0; i < metadata_forwarding::max_waiting; ++i) propose(0, 2, "one of many");
  EXPECT_TRUE(outcomes_.empty());
  propose(0, 2, "one too many");
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error().code, metadata::errc::not_controller);
  EXPECT_THAT(outcomes_[0].error().message, HasSubstr("too many"));
}

}  // namespace
}  // namespace braidmq::server

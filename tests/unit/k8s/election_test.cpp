// operators.md 4.6.
#include "k8s/election.hpp"

#include <condition_variable>
#include <regex>

#include <gtest/gtest.h>

#include "k8s/leader_elector.hpp"
#include "support/k8s/atomic_clock.hpp"
#include "support/k8s/fake_client.hpp"
#include "support/k8s/fixed_random.hpp"

namespace braidmq::k8s::testing {
namespace {

using namespace std::chrono_literals;

const resource_type leases{"coordination.k8s.io", "v1", "Lease", "leases"};
const object_key lease{"n", "op"};

class election_test : public ::testing::Test {
 protected:
  static election_options options_of(const std::string& identity) { return {.lease = lease, .identity = identity}; }
  json spec() { return api.read(leases, lease)->at("spec"); }

  atomic_clock clock;
  fake_client api{clock};
  fixed_random random;
  election one{api, options_of("one"), clock, random};
  election two{api, options_of("two"), clock, random};
};

TEST_F(election_test, the_first_makes_the_lease_and_leads) {
  EXPECT_FALSE(one.is_leader());
  EXPECT_EQ(one.step(), 2s);
  EXPECT_TRUE(one.is_leader());
  EXPECT_EQ(spec()["holderIdentity"], "one");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 15);
  const std::regex micro_time("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z");
  EXPECT_TRUE(std::regex_match(spec()["renewTime"].get<std::string>(), micro_time));
  EXPECT_TRUE(std::regex_match(spec()["acquireTime"].get<std::string>(), micro_time));
}

TEST_F(election_test, renewals_move_the_renew_time_only) {
  (void)one.step();
  const json before = spec();
  clock.advance(2s);
  (void)one.step();
  json after = spec();
  EXPECT_NE(after["renewTime"], before["renewTime"]);
  after["renewTime"] = before["renewTime"];
  EXPECT_EQ(after, before);
}

TEST_F(election_test, the_second_waits_15_s_of_its_own_clock_since_the_record_changed) {
  (void)one.step();
  (void)two.step();
  EXPECT_EQ(two.holder(), "one");
  clock.advance(14s);
  (void)one.step();  // the record changes: the second's waiting begins anew
  clock.advance(1s);
  (void)two.step();
  EXPECT_FALSE(two.is_leader());
  clock.advance(15s - 1ns);
  (void)two.step();
  EXPECT_FALSE(two.is_leader());
  clock.advance(1ns);
  (void)two.step();
  EXPECT_TRUE(two.is_leader());
  EXPECT_EQ(spec()["leaseTransitions"], 1);
}

// The other's clock may be years off.
TEST_F(election_test, the_times_in_the_record_mean_nothing) {
  (void)one.step();
  json object = *api.read(leases, lease);
  object["spec"]["renewTime"] = "1999-01-01T00:00:00.000000Z";
  api.put(leases, object);
  (void)two.step();
  clock.advance(14s);
  (void)two.step();
  EXPECT_FALSE(two.is_leader());
}

TEST_F(election_test, leading_ends_10_s_after_the_last_renewal_was_asked_for_whatever_hangs) {
  (void)one.step();
  api.fail_next("get", "leases", {errc::network, "away"}, 100);
  for (int i = 0; i < 4; ++i) {
    clock.advance(2s);
    EXPECT_EQ(one.step(), 2s);
    EXPECT_TRUE(one.is_leader());
  }
  clock.advance(2s - 1ns);
  EXPECT_TRUE(one.is_leader());
  clock.advance(1ns);
  EXPECT_FALSE(one.is_leader());
  EXPECT_EQ(one.last_error(), "away: network error");
  // And another begins no sooner than 5 s after that.
}

TEST_F(election_test, no_two_lead_at_once_when_one_stops) {
  (void)one.step();
  (void)two.step();
  io::duration one_led{}, two_waited{};
  for (io::duration at{}; at < 30s; at += 100ms) {
    if (at % 2s == 0s) (void)two.step();
    EXPECT_FALSE(one.is_leader() && two.is_leader());
    if (one.is_leader()) one_led = at;
    if (!two.is_leader()) two_waited = at;
    clock.advance(100ms);
  }
  EXPECT_EQ(one_led, 9900ms);
  EXPECT_GE(two_waited, 14900ms);
  EXPECT_TRUE(two.is_leader());
}

// The process was stopped for 40 s and wakes up.
TEST_F(election_test, a_paused_leader_that_wakes_leads_no_more_and_cannot_renew) {
  (void)one.step();
  (void)two.step();
  clock.advance(16s);
  (void)two.step();
  ASSERT_TRUE(two.is_leader());
  clock.advance(24s);
  EXPECT_FALSE(one.is_leader());
  (void)two.step();
  (void)one.step();
  EXPECT_FALSE(one.is_leader());
  EXPECT_EQ(spec()["holderIdentity"], "two");
}

TEST_F(election_test, of_two_that_try_at_once_one_wins) {
  (void)one.step();
  one.release();
  // Both have seen the free record; the second's write is based on what was there before the first's.
  api.fail_next("patch", "leases", {errc::conflict, "the other was faster"});
  (void)one.step();
  EXPECT_FALSE(one.is_leader());
  (void)two.step();
  EXPECT_TRUE(two.is_leader());
}

TEST_F(election_test, release_frees_the_lease_at_once) {
  (void)one.step();
  (void)two.step();
  one.release();
  EXPECT_FALSE(one.is_leader());
  EXPECT_EQ(spec()["holderIdentity"], "");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 1);
  (void)two.step();
  EXPECT_TRUE(two.is_leader());
  EXPECT_EQ(spec()["leaseDurationSeconds"], 15);
  one.release();  // not its to free
  EXPECT_EQ(spec()["holderIdentity"], "two");
}

TEST_F(election_test, a_lease_taken_by_force_ends_leading) {
  (void)one.step();
  json object = *api.read(leases, lease);
  object["spec"]["holderIdentity"] = "thief";
  api.put(leases, object);
  clock.advance(2s);
  (void)one.step();
  EXPECT_FALSE(one.is_leader());
}

TEST_F(election_test, a_broken_record_is_taken_over) {
  api.put(leases, {{"metadata", {{"name", "op"}, {"namespace", "n"}}}, {"spec", {{"holderIdentity", 7}}}});
  (void)one.step();
  EXPECT_TRUE(one.is_leader());
}

TEST_F(election_test, waits_of_those_that_do_not_lead_are_jittered_up_to_2_2_periods) {
  (void)one.step();
  random.value = 2'400'000'000;
  EXPECT_EQ(two.step(), 4400ms);
  random.value = 0;
  EXPECT_EQ(two.step(), 2s);
}

TEST_F(election_test, times_that_do_not_fit_together_are_refused) {
  auto bad = options_of("x");
  bad.lease_duration = 10s;
  EXPECT_FALSE(validate(bad));
  bad = options_of("x");
  bad.retry_period = 5s;
  EXPECT_FALSE(validate(bad));
  EXPECT_FALSE(validate(options_of("")));
  EXPECT_TRUE(validate(options_of("x")));
}

// --- Threads --------------------------------------------------------------------------------------------------------

class leader_elector_test : public ::testing::Test {
 protected:
  std::unique_ptr<leader_elector> start(const std::string& identity) {
    election_options options{.lease = lease, .identity = identity};
    options.lease_duration = 2s;
    options.renew_deadline = 600ms;
    options.retry_period = 50ms;
    auto started = leader_elector::start(api, options,
                                         {.on_started = [this] { note(started_count); },
                                          .on_lost =
                                              [this](const std::string& why) {
                                                {
                                                  const std::lock_guard lock(mutex);
                                                  lost_why = why;
                                                }
                                                note(lost_count);
                                              }});
    EXPECT_TRUE(started);
    return std::move(*started);
  }
  void note(int& count) {
    const std::lock_guard lock(mutex);
    ++count;
    changed.notify_all();
  }
  bool wait_for(const int& count, int expected) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 10s, [&] { return count >= expected; });
  }

  fake_client api;
  std::mutex mutex;
  std::condition_variable changed;
  int started_count = 0, lost_count = 0;
  std::string lost_why;
};

TEST_F(leader_elector_test, starts_once_and_hands_over_on_stop) {
  auto one = start("one");
  ASSERT_TRUE(wait_for(started_count, 1));
  auto two = start("two");
  one->stop();  // frees the Lease: the second need not wait for its 2 s
  ASSERT_TRUE(wait_for(started_count, 2));
  EXPECT_TRUE(two->read_figures().leading);
  two->stop();
  EXPECT_EQ(lost_count, 0);
  EXPECT_EQ(api.read(leases, lease)->at("spec").at("holderIdentity"), "");
}

TEST_F(leader_elector_test, may_not_write_from_the_moment_when_the_lease_is_over) {
  atomic_clock clock;
  election_options options{.lease = lease, .identity = "one"};
  options.retry_period = 1s;
  auto one = leader_elector::start(api, options, {.on_started = [this] { note(started_count); }, .on_lost = {}}, clock);
  ASSERT_TRUE(one);
  ASSERT_TRUE(wait_for(started_count, 1));
  EXPECT_TRUE((*one)->may_write());
  api.fail_next("", "leases", {errc::server_error, "away"}, 1'000'000);
  clock.advance(10s);  // stopped and woken: whether a thread has noticed must not matter
  EXPECT_FALSE((*one)->may_write());
  (*one)->stop();
}

TEST_F(leader_elector_test, tells_the_loss_once_and_never_leads_again) {
  auto one = start("one");
  ASSERT_TRUE(wait_for(started_count, 1));
  api.fail_next("", "leases", {errc::server_error, "etcd is away"}, 1'000'000);
  ASSERT_TRUE(wait_for(lost_count, 1));
  EXPECT_NE(lost_why.find("etcd is away"), std::string::npos) << lost_why;
  EXPECT_FALSE(one->read_figures().leading);
  const auto writes = api.writes().size();
  one->stop();
  EXPECT_EQ(api.writes().size(), writes);  // nothing is written after a loss, not even a release
  EXPECT_EQ(lost_count, 1);
}

}  // namespace
}  // namespace braidmq::k8s::testing

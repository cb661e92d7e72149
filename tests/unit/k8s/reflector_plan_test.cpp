// operators.md 4.2 on a virtual clock.
#include "k8s/reflector_plan.hpp"

#include <gtest/gtest.h>

#include "k8s/errc.hpp"
#include "support/k8s/fixed_random.hpp"
#include "support/manual_timers.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;
using step = reflector_plan::step;

class reflector_plan_test : public ::testing::Test {
 protected:
  void list(const std::string& version) {
    ASSERT_EQ(plan.next().what, step::kind::list);
    plan.listed(version);
  }
  static tl::unexpected<error> broken(errc code) { return fail(code, "words"); }
  const char* end_by(errc code) { return plan.watch_ended(broken(code), std::nullopt, 10s); }
  const char* end_in_stream(errc code) {
    return plan.watch_ended(watch_end::stopped_by_handler, error{code, "words"}, 10s);
  }

  sim::manual_clock clock;
  testing::fixed_random random;
  reflector_plan plan{{}, clock, random};
};

TEST_F(reflector_plan_test, lists_the_most_recent_state_then_watches_from_it) {
  const step first = plan.next();
  EXPECT_EQ(first.what, step::kind::list);
  EXPECT_EQ(first.resource_version, "");
  EXPECT_EQ(first.wait, 0s);
  plan.listed("10");
  const step second = plan.next();
  EXPECT_EQ(second.what, step::kind::watch);
  EXPECT_EQ(second.resource_version, "10");
}

TEST_F(reflector_plan_test, timeouts_are_drawn_between_270_and_290_s) {
  list("10");
  std::set<std::int64_t> drawn;
  for (std::uint64_t i = 0; i < 100; ++i) {
    random.value = i;
    const auto timeout = plan.next().timeout;
    EXPECT_GE(timeout, 270s);
    EXPECT_LE(timeout, 290s);
    drawn.insert(timeout.count());
  }
  EXPECT_EQ(drawn.size(), 21U);
}

TEST_F(reflector_plan_test, a_clean_end_goes_on_from_the_last_event_or_bookmark) {
  list("10");
  (void)plan.next();
  plan.saw("17");
  EXPECT_STREQ(plan.watch_ended(watch_end::closed_by_server, std::nullopt, 280s), "timeout");
  const step next = plan.next();
  EXPECT_EQ(next.what, step::kind::watch);
  EXPECT_EQ(next.resource_version, "17");
  EXPECT_EQ(next.wait, 0s);
}

TEST_F(reflector_plan_test, versions_are_opaque) {
  list("zz");
  (void)plan.next();
  plan.saw("aa");  // "smaller" means nothing
  (void)end_by(errc::network);
  EXPECT_EQ(plan.next().resource_version, "aa");
}

TEST_F(reflector_plan_test, both_forms_of_410_list_at_the_last_version_and_then_the_most_recent) {
  for (const bool in_stream : {false, true}) {
    clock.advance(10min);
    list("10");
    (void)plan.next();
    plan.saw("12");
    EXPECT_STREQ(in_stream ? end_in_stream(errc::gone) : end_by(errc::gone), "expired");
    step next = plan.next();
    EXPECT_EQ(next.what, step::kind::list);
    EXPECT_EQ(next.resource_version, "12");
    EXPECT_EQ(next.wait, 0s);
    plan.list_failed(error{errc::gone, ""});
    next = plan.next();
    EXPECT_EQ(next.what, step::kind::list);
    EXPECT_EQ(next.resource_version, "");
    EXPECT_EQ(next.wait, 0s);
    plan.listed("99");
    EXPECT_EQ(plan.next().resource_version, "99");
    (void)end_by(errc::gone);
  }
}

TEST_F(reflector_plan_test, a_server_that_says_410_for_ever_gets_pauses) {
  list("10");
  io::duration waited{};
  for (int i = 0; i < 10; ++i) {
    (void)plan.next();
    (void)end_by(errc::gone);
    const auto pause = plan.next().wait;
    waited += pause;
    clock.advance(pause);
    plan.listed("10");
  }
  EXPECT_GT(waited, 100s);
}

TEST_F(reflector_plan_test, a_500_in_the_stream_is_a_backoff_and_no_list) {
  list("10");
  (void)plan.next();
  plan.saw("11");
  EXPECT_STREQ(end_in_stream(errc::server_error), "server_error");
  const step next = plan.next();
  EXPECT_EQ(next.what, step::kind::watch);
  EXPECT_EQ(next.resource_version, "11");
  EXPECT_GE(next.wait, 800ms);
}

TEST_F(reflector_plan_test, backoff_doubles_from_800_ms_to_30_s_with_jitter_up_to_twofold) {
  list("10");
  io::duration expected = 800ms;
  for (int i = 0; i < 10; ++i) {
    (void)plan.next();
    plan.saw("10");
    random.value = i % 2 == 0 ? 0 : static_cast<std::uint64_t>(expected.count());
    (void)end_by(errc::network);
    random.value = 0;
    const auto wait = plan.next().wait;
    EXPECT_EQ(wait, i % 2 == 0 ? expected : 2 * expected) << i;
    clock.advance(wait);
    expected = std::min<io::duration>(expected * 2, 30s);
  }
}

TEST_F(reflector_plan_test, two_minutes_of_health_forget_the_backoff) {
  list("10");
  for (int i = 0; i < 5; ++i) {
    (void)plan.next();
    plan.saw("10");
    (void)end_by(errc::network);
  }
  const auto wait = plan.next().wait;
  EXPECT_EQ(wait, 12800ms);
  clock.advance(wait + 2min);
  plan.saw("10");
  (void)end_by(errc::network);
  EXPECT_EQ(plan.next().wait, 800ms);
}

TEST_F(reflector_plan_test, a_watch_under_a_second_without_events_is_an_error) {
  list("10");
  (void)plan.next();
  EXPECT_STREQ(plan.watch_ended(watch_end::closed_by_server, std::nullopt, 999ms), "too_short");
  EXPECT_EQ(plan.next().wait, 800ms);
  EXPECT_STREQ(plan.watch_ended(watch_end::closed_by_server, std::nullopt, 1s), "timeout");
  EXPECT_EQ(plan.next().wait, 0s);
  plan.saw("11");
  EXPECT_STREQ(plan.watch_ended(watch_end::closed_by_server, std::nullopt, 1ms), "timeout");
  EXPECT_EQ(plan.next().wait, 0s);
}

// After a backup was restored the server waits for a version that is years away, or says 504.
TEST_F(reflector_plan_test, three_watches_that_fail_without_an_event_lead_to_a_list) {
  list("900000");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.next().what, step::kind::watch);
    (void)end_by(errc::server_error);
  }
  const step next = plan.next();
  EXPECT_EQ(next.what, step::kind::list);
  EXPECT_EQ(next.resource_version, "");
}

TEST_F(reflector_plan_test, a_version_that_the_server_calls_invalid_leads_to_a_list) {
  list("10");
  (void)plan.next();
  (void)end_by(errc::invalid);
  EXPECT_EQ(plan.next().what, step::kind::list);
}

TEST_F(reflector_plan_test, lists_that_fail_back_off) {
  for (const auto expected : {800ms, 1600ms, 3200ms}) {
    EXPECT_EQ(plan.next().what, step::kind::list);
    plan.list_failed(error{errc::forbidden, ""});
    const step next = plan.next();
    EXPECT_EQ(next.wait, expected);
    clock.advance(next.wait);
  }
}

}  // namespace
}  // namespace braidmq::k8s

#include "ctl_fixture.hpp"

namespace braidmq::ctl {
namespace {

using namespace std::chrono_literals;
using admin_client::drain_state;

class drain_test : public ctl_test {
 protected:
  result<drain_state> failure(errc code) { return tl::unexpected(error{make_error_code(code), "words"}); }
};

TEST_F(drain_test, the_last_broker_ends_at_once) {
  broker_.drains = {drain_state{true, true, 0}};
  EXPECT_EQ(drain(with_, 120s), exit_good);
  EXPECT_EQ(out_.str(), "drain: this is the last broker: nobody could take over, nothing to wait for\n");
  EXPECT_EQ(broker_.asked.size(), 1U);
}

TEST_F(drain_test, a_closed_admin_port_ends_at_once) {
  broker_.drains = {failure(errc::unreachable)};
  EXPECT_EQ(drain(with_, 120s), exit_good);
  EXPECT_EQ(out_.str(), "drain: nobody answers on the admin port: nothing to drain\n");
  EXPECT_EQ(broker_.asked.size(), 1U);
}

TEST_F(drain_test, a_refusal_ends_at_once_and_is_said) {
  broker_.drains = {failure(errc::cluster_authorization_failed)};
  EXPECT_EQ(drain(with_, 120s), exit_good);
  EXPECT_EQ(out_.str(), "drain: words: not authorized\n");
}

TEST_F(drain_test, waits_until_all_is_handed_over_with_one_line_a_step) {
  broker_.drains = {drain_state{true, false, 2}, drain_state{true, false, 2}, drain_state{true, false, 1},
                    drain_state{true, false, 0}};
  EXPECT_EQ(drain(with_, 120s), exit_good);
  EXPECT_EQ(out_.str(),
            "drain: 2 leaderships are still to be handed over\n"
            "drain: 1 leaderships are still to be handed over\n"
            "drain: all leaderships are handed over\n");
}

TEST_F(drain_test, errors_that_may_pass_are_tried_again) {
  broker_.drains = {failure(errc::not_controller), failure(errc::timed_out), drain_state{true, true, 0}};
  EXPECT_EQ(drain(with_, 120s), exit_good);
  EXPECT_EQ(broker_.asked.size(), 3U);
}

TEST_F(drain_test, is_bounded_whatever_the_broker_says) {
  for (const auto& said :
       {failure(errc::not_controller), failure(errc::timed_out), result<drain_state>(drain_state{true, false, 1})}) {
    broker_.drains = {said};
    out_.str("");
    const auto began = now_;
    EXPECT_EQ(drain(with_, 3s), exit_good);
    EXPECT_GE(now_ - began, 3s);
    EXPECT_LE(now_ - began, 4s);
    EXPECT_TRUE(out_.str().ends_with("drain: the time is up; the broker stops as it is\n")) << out_.str();
  }
}

TEST_F(drain_test, believes_nothing_before_the_broker_says_that_it_drains) {
  broker_.drains = {drain_state{false, false, 0}};
  EXPECT_EQ(drain(with_, 3s), exit_good);
  EXPECT_EQ(out_.str(), "drain: the broker did not begin to drain\n");
}

}  // namespace
}  // namespace braidmq::ctl

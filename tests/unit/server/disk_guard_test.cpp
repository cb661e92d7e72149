#include "server/disk_guard.hpp"

#include <gtest/gtest.h>

#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::server {
namespace {

constexpr std::uint64_t mib = 1U << 20U;

class DiskGuardTest : public ::testing::Test {
 protected:
  DiskGuardTest() { EXPECT_TRUE(fs_.make_directories("/data")); }

  void start(std::uint64_t reserve_bytes) {
    guard_.emplace(disk_guard_options{{"/data", "/wal"}, reserve_bytes},
                   disk_guard_environment{fs_, disk_, owner_, timers_},
                   [this](bool is_full, const std::string& why) { told_.emplace_back(is_full, why); });
    guard_->start();
    loop_.run_until_idle();
  }
  void pass(io::duration by) {
    timers_.advance(by);
    loop_.run_until_idle();
  }

  sim::manual_loop loop_;
  sim::manual_clock clock_;
  sim::manual_executor owner_{loop_};
  sim::manual_executor disk_{loop_};
  sim::manual_timers timers_{clock_, owner_};
  sim::sim_file_system fs_;
  std::vector<std::pair<bool, std::string>> told_;
  std::optional<disk_guard> guard_;
};

TEST_F(DiskGuardTest, RefusesBelowTheReserveAndTakesAgainAQuarterAboveIt) {
  fs_.set_free_bytes(100'000 * mib);
  start(100 * mib);
  EXPECT_TRUE(told_.empty());
  fs_.set_free_bytes(100 * mib - 1);
  pass(std::chrono::milliseconds(999));
  EXPECT_TRUE(told_.empty()) << "a disk that was far from full is looked at once a second";
  pass(std::chrono::milliseconds(1));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].first);
  EXPECT_NE(told_[0].second.find("/data has 99 MiB free"), std::string::npos) << told_[0].second;
  fs_.set_free_bytes(125 * mib - 1);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(told_.size(), 1U) << "no flapping";
  fs_.set_free_bytes(125 * mib);
  pass(std::chrono::milliseconds(100));
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_FALSE(told_[1].first);
  EXPECT_FALSE(guard_->statistics().is_full);
}

TEST_F(DiskGuardTest, KnowsBeforeTheFirstWriteThatADiskIsFull) {
  fs_.set_free_bytes(0);
  start(1);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(guard_->statistics().is_full);
}

TEST_F(DiskGuardTest, ByItselfKeepsATwentiethWithinBounds) {
  fs_.set_free_bytes(1024 * mib);
  start(0);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(guard_->statistics().volumes[0].reserve_bytes, 1024 * mib) << "of a volume of 1 TiB";
  fs_.set_free_bytes(1023 * mib);
  pass(std::chrono::milliseconds(100));
  EXPECT_EQ(told_.size(), 1U) << "near the reserve it is looked at ten times a second";
}

TEST_F(DiskGuardTest, AVolumeThatDoesNotTellStaysAsItWas) {
  fs_.set_free_bytes(10 * mib);
  start(100 * mib);
  ASSERT_EQ(told_.size(), 1U);
  fs_.fail_next(sim::operation::space, "*", io::errc::device_error, 0, 4);
  pass(std::chrono::milliseconds(100));
  pass(std::chrono::milliseconds(100));
  EXPECT_EQ(told_.size(), 1U) << "still full";
  EXPECT_EQ(guard_->statistics().failures, 4U);
  fs_.set_free_bytes(1000 * mib);
  pass(std::chrono::milliseconds(100));
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(DiskGuardTest, MayBeDestroyedInItsCallbackAndWhileItLooks) {
  fs_.set_free_bytes(0);
  guard_.emplace(disk_guard_options{{"/data"}, 1}, disk_guard_environment{fs_, disk_, owner_, timers_},
                 [this](bool, const std::string&) { guard_.reset(); });
  guard_->start();
  loop_.run_until_idle();
  EXPECT_FALSE(guard_.has_value());
  start(1);
  guard_->stop();
  guard_.reset();
  pass(std::chrono::seconds(5));
}

}  // namespace
}  // namespace braidmq::server

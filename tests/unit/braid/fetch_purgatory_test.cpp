#include "braid/fetch_purgatory.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/batches.hpp"
#include "support/memory_partition_log.hpp"

namespace braidmq::braid {
namespace {

using sim::partition_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wakeup = fetch_purgatory::wakeup;

class hand_timers final : public io::timer_service {
 public:
  io::timer_id schedule(io::duration delay, unique_function<void()> callback) override {
    const io::timer_id id(++last_);
    armed.emplace(id, std::make_pair(delay, std::move(callback)));
    return id;
  }
  bool cancel(io::timer_id id) override { return armed.erase(id) > 0; }
  void fire(io::timer_id id) {
    auto callback = std::move(armed.at(id).second);
    armed.erase(id);
    callback();
  }
  std::map<io::timer_id, std::pair<io::duration, unique_function<void()>>> armed;

 private:
  std::uint64_t last_ = 0;
};

fetch_slice slice_of(const model::topic_partition_id& id) {
  fetch_slice slice;
  slice.target = id;
  return slice;
}

class FetchPurgatoryTest : public ::testing::Test {
 protected:
  const partition::partition* make(const model::topic_partition_id& id) {
    partitions_.push_back(std::make_unique<partition::partition>(id, 0, std::make_unique<sim::memory_partition_log>()));
    return partitions_.back().get();
  }
  void park(std::string name, const std::vector<model::topic_partition_id>& partitions, std::size_t missing) {
    std::vector<fetch_slice> slices;
    for (const auto& id : partitions) slices.push_back(slice_of(id));
    purgatory_.park(slices, missing, std::chrono::seconds(1),
                    [this, name = std::move(name)](wakeup why) { woken_.emplace_back(name, why); });
  }

  hand_timers timers_;
  fetch_purgatory purgatory_{timers_};
  std::vector<std::unique_ptr<partition::partition>> partitions_;
  std::vector<std::pair<std::string, wakeup>> woken_;
  const partition::partition* a_ = make(partition_of(1, 0));
  const partition::partition* b_ = make(partition_of(2, 0));
};

TEST_F(FetchPurgatoryTest, WakesWhenEnoughBytesHaveComeOverAllItsPartitions) {
  park("both", {a_->id(), b_->id()}, 100);
  park("only b", {b_->id()}, 1);
  purgatory_.on_published({{a_, 60}});
  EXPECT_THAT(woken_, IsEmpty());
  purgatory_.on_published({{b_, 40}});
  EXPECT_THAT(woken_,
              ElementsAre(std::pair("both", wakeup::bytes_arrived), std::pair("only b", wakeup::bytes_arrived)));
  EXPECT_TRUE(timers_.armed.empty()) << "a woken fetch leaves no timer behind";
  EXPECT_EQ(purgatory_.size(), 0U);
}

TEST_F(FetchPurgatoryTest, WakesOnceAtTheDeadline) {
  park("late", {a_->id()}, 100);
  timers_.fire(timers_.armed.begin()->first);
  EXPECT_THAT(woken_, ElementsAre(std::pair("late", wakeup::deadline)));
  purgatory_.on_published({{a_, 1000}});
  EXPECT_EQ(woken_.size(), 1U);
}

TEST_F(FetchPurgatoryTest, TheSamePartitionTwiceIsCountedAndForgottenOnce) {
  park("twice", {a_->id(), a_->id()}, 100);
  purgatory_.on_published({{a_, 99}});
  purgatory_.on_published({{a_, 1}});
  EXPECT_EQ(woken_.size(), 1U);
  EXPECT_EQ(purgatory_.size(), 0U);
}

TEST_F(FetchPurgatoryTest, ADeletedPartitionWakesAllThatWaitForIt) {
  park("both", {a_->id(), b_->id()}, 100);
  park("a", {a_->id()}, 100);
  park("b", {b_->id()}, 100);
  purgatory_.on_deleted(a_->id());
  EXPECT_THAT(woken_, ElementsAre(std::pair("both", wakeup::deleted), std::pair("a", wakeup::deleted)));
  purgatory_.on_deleted(a_->id());
  EXPECT_EQ(purgatory_.size(), 1U);
  EXPECT_EQ(timers_.armed.size(), 1U);
}

TEST_F(FetchPurgatoryTest, StopWakesAllAndAWakerMayParkAgain) {
  purgatory_.park({slice_of(a_->id())}, 1, std::chrono::seconds(1), [this](wakeup) { park("again", {a_->id()}, 5); });
  purgatory_.on_published({{a_, 1}});
  EXPECT_EQ(purgatory_.size(), 1U);
  purgatory_.stop();
  EXPECT_THAT(woken_, ElementsAre(std::pair("again", wakeup::stopped)));
}

}  // namespace
}  // namespace braidmq::braid

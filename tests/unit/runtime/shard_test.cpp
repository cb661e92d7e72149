#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/shard_set.hpp"

namespace braidmq::runtime {
namespace {

using namespace std::chrono_literals;

// Runs `work` on the shard and waits for its value.
template <class Work>
auto on(shard& where, Work work) {
  std::promise<decltype(work())> answer;
  auto value = answer.get_future();
  where.post([&] { answer.set_value(work()); });
  return value.get();
}

TEST(shard, runs_posts_in_order_on_its_own_thread) {
  shard one(3);
  one.start();
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) one.post([&order, i] { order.push_back(i); });
  EXPECT_TRUE(on(one, [&] { return one.on_shard(); }));
  EXPECT_FALSE(one.on_shard());
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_GE(one.counters().tasks, 101U);
  EXPECT_EQ(one.index(), 3U);
}

TEST(shard, a_post_never_runs_inside_the_call) {
  shard one(0);
  one.start();
  EXPECT_FALSE(on(one, [&] {
    bool ran = false;
    auto flag = std::make_shared<bool*>(&ran);
    one.post([flag] {
      if (*flag != nullptr) **flag = true;
    });
    *flag = nullptr;
    return ran;
  }));
}

TEST(shard, timers_run_in_order_not_before_their_time_and_not_when_cancelled) {
  shard one(0);
  one.start();
  struct outcome {
    std::vector<int> order;
    bool early = false;
    std::promise<void> done;
  } seen;
  one.post([&] {
    const auto start = one.clock().now();
    const auto note = [&seen, &one, start](int which, io::duration delay) {
      one.schedule(delay, [&seen, &one, start, which, delay] {
        if (one.clock().now() - start < delay) seen.early = true;
        seen.order.push_back(which);
        if (which == 3) seen.done.set_value();
      });
    };
    note(3, 30ms);
    note(1, 5ms);
    note(2, 15ms);
    const auto cancelled = one.schedule(10ms, [&seen] { seen.order.push_back(99); });
    EXPECT_TRUE(one.cancel(cancelled));
    EXPECT_FALSE(one.cancel(cancelled));
  });
  seen.done.get_future().get();
  one.stop();
  EXPECT_EQ(seen.order, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(seen.early);
  EXPECT_GE(one.counters().timers, 3U);
}

TEST(shard, an_earlier_timer_made_later_is_not_held_up_by_a_later_one) {
  shard one(0);
  one.start();
  std::promise<bool> ran;
  bool late_ran = false;
  one.post([&] {
    one.schedule(1h, [&] { late_ran = true; });
    one.schedule(1ms, [&] { ran.set_value(true); });
  });
  EXPECT_TRUE(ran.get_future().get());
  one.stop();
  EXPECT_FALSE(late_ran);
}

TEST(shard, a_loop_that_is_held_is_seen_from_outside) {
  shard one(0);
  EXPECT_EQ(one.stuck(), io::duration::zero());
  one.start();
  std::promise<void> release;
  one.post([&] { release.get_future().wait(); });
  while (one.stuck() < 300ms) std::this_thread::yield();
  release.set_value();
  while (one.stuck() >= 300ms) std::this_thread::yield();
  one.stop();
  EXPECT_EQ(one.stuck(), io::duration::zero());
}

TEST(shard, lag_shows_how_long_a_task_held_the_loop) {
  shard one(0);
  one.start();
  on(one, [&] {
    const auto until = one.clock().now() + 250ms;  // longer than the distance of two lag probes
    while (one.clock().now() < until) {
    }
    return 0;
  });
  std::promise<void> probed;
  one.post([&] { one.schedule(150ms, [&] { probed.set_value(); }); });
  probed.get_future().get();
  EXPECT_GE(one.counters().lag_max_us, 100'000U);
}

TEST(shard, stop_drops_what_is_queued_and_destroys_it) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    shard one(0);
    one.post([held] { *held = 2; });
    one.schedule(1h, [held] { *held = 3; });
    one.stop();
    one.post([held] { *held = 4; });
    EXPECT_EQ(*held, 1);
    held.reset();
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(shard, dropped_work_may_still_cancel_its_timers) {
  shard one(0);
  struct owner {
    shard* of;
    io::timer_id id;
    ~owner() { of->cancel(id); }
  };
  const auto id = one.schedule(1h, [] {});
  one.post([held = std::make_unique<owner>(&one, id)] { (void)held; });
}

TEST(shard_set, each_shard_has_its_own_thread) {
  shard_set all(3);
  all.start();
  std::promise<std::thread::id> ids[3];
  all.post_to_all([&](shard& one) { ids[one.index()].set_value(std::this_thread::get_id()); });
  const auto a = ids[0].get_future().get();
  const auto b = ids[1].get_future().get();
  const auto c = ids[2].get_future().get();
  EXPECT_NE(a, b);
  EXPECT_NE(b, c);
  EXPECT_NE(a, c);
  EXPECT_EQ(all.size(), 3U);
}

TEST(shard_set, shards_hand_work_to_each_other_until_the_end) {
  shard_set all(2);
  all.start();
  std::atomic<int> hops{0};
  std::promise<void> enough;
  struct ball {
    static void hop(shard_set& set, std::atomic<int>& count, std::promise<void>& done) {
      if (count.fetch_add(1) == 1000) done.set_value();
      set.at(static_cast<std::size_t>(count.load()) % 2).post([&] { hop(set, count, done); });
    }
  };
  all.at(0).post([&] { ball::hop(all, hops, enough); });
  enough.get_future().get();
  all.stop();
  EXPECT_GE(hops.load(), 1000);
}

}  // namespace
}  // namespace braidmq::runtime

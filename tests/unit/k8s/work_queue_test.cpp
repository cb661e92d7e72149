// operators.md 4.4, first row: client-go's semantics.
#include "k8s/work_queue.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/manual_timers.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

class work_queue_test : public ::testing::Test {
 protected:
  sim::manual_clock clock;
  work_queue queue{clock};
  const object_key a{"n", "a"}, b{"n", "b"};
};

TEST_F(work_queue_test, fifo_and_added_twice_waits_once) {
  queue.add(a);
  queue.add(b);
  queue.add(a);
  EXPECT_EQ(queue.read_figures().depth, 2U);
  EXPECT_EQ(queue.try_take(), a);
  EXPECT_EQ(queue.try_take(), b);
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(work_queue_test, a_key_is_never_with_two_workers_and_is_run_once_more_when_added_meanwhile) {
  queue.add(a);
  ASSERT_EQ(queue.try_take(), a);
  queue.add(a);
  queue.add(a);
  EXPECT_EQ(queue.try_take(), std::nullopt);
  EXPECT_EQ(queue.read_figures().processing, 1U);
  queue.done(a);
  EXPECT_EQ(queue.try_take(), a);
  queue.done(a);
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(work_queue_test, of_several_delays_the_earliest_counts) {
  queue.add_after(a, 10s);
  queue.add_after(a, 2s);
  queue.add_after(a, 5s);
  EXPECT_EQ(queue.read_figures().delayed, 1U);
  clock.advance(2s - 1ns);
  EXPECT_EQ(queue.try_take(), std::nullopt);
  clock.advance(1ns);
  EXPECT_EQ(queue.try_take(), a);
  queue.done(a);
  clock.advance(1h);
  EXPECT_EQ(queue.try_take(), std::nullopt);
}

TEST_F(work_queue_test, a_delay_that_ends_while_the_key_is_worked_on_runs_it_once_more) {
  queue.add(a);
  ASSERT_EQ(queue.try_take(), a);
  queue.add_after(a, 1s);
  clock.advance(1s);
  EXPECT_EQ(queue.try_take(), std::nullopt);
  queue.done(a);
  EXPECT_EQ(queue.try_take(), a);
}

TEST_F(work_queue_test, backoff_doubles_from_5_ms_to_60_s_and_forget_ends_it) {
  io::duration expected = 5ms;
  for (int i = 0; i < 40; ++i) {
    queue.add_rate_limited(a);
    EXPECT_EQ(queue.failures(a), i + 1);
    clock.advance(expected - 1ns);
    ASSERT_EQ(queue.try_take(), std::nullopt) << i;  // a limit that answers 0 makes a hot loop
    clock.advance(1ns);
    ASSERT_EQ(queue.try_take(), a) << i;
    queue.done(a);
    expected = std::min<io::duration>(expected * 2, 60s);
  }
  queue.forget(a);
  EXPECT_EQ(queue.failures(a), 0);
  queue.add_rate_limited(a);
  clock.advance(5ms);
  EXPECT_EQ(queue.try_take(), a);
}

TEST_F(work_queue_test, all_retries_together_pass_ten_a_second_after_a_burst_of_a_hundred) {
  for (int i = 0; i < 130; ++i) queue.add_rate_limited({"n", std::to_string(i)});
  const auto due_now = [&] {
    std::size_t count = 0;
    while (queue.try_take()) ++count;
    return count;
  };
  clock.advance(5ms);
  EXPECT_EQ(due_now(), 100U);
  clock.advance(95ms);
  EXPECT_EQ(due_now(), 1U);
  clock.advance(1s);
  EXPECT_EQ(due_now(), 10U);
  clock.advance(1h);
  EXPECT_EQ(due_now(), 19U);
  // An hour of idling fills the bucket no further than its burst.
  for (int i = 1000; i < 1130; ++i) queue.add_rate_limited({"n", std::to_string(i)});
  clock.advance(5ms);
  EXPECT_EQ(due_now(), 100U);
}

TEST_F(work_queue_test, figures_tell_waiting_and_the_longest_run) {
  queue.add(a);
  clock.advance(3s);
  ASSERT_EQ(queue.try_take(), a);
  clock.advance(2min);
  const auto figures = queue.read_figures();
  EXPECT_EQ(figures.taken, 1U);
  EXPECT_EQ(figures.waited, 3s);
  EXPECT_EQ(figures.longest_running, 2min);
}

TEST_F(work_queue_test, nothing_is_given_out_after_shut_down) {
  queue.add(a);
  queue.add(b);
  ASSERT_EQ(queue.try_take(), a);
  queue.shut_down();
  queue.add({"n", "c"});
  EXPECT_EQ(queue.try_take(), std::nullopt);
  EXPECT_EQ(queue.take(), std::nullopt);
  queue.done(a);
}

TEST(work_queue_threads_test, four_workers_share_the_keys_and_end_on_shut_down) {
  work_queue queue(io::system_clock());
  std::atomic<int> runs{0};
  std::array<std::atomic<int>, 10> inside{};
  std::vector<std::thread> workers;
  // Each run wants another key, now or in a moment, so work never ends by itself.
  const auto want = [&](int n) {
    const object_key key{"", std::to_string(n % 10)};
    if (n % 7 == 0) {
      queue.add_after(key, 1us);
    } else {
      queue.add(key);
    }
  };
  for (int i = 0; i < 10; ++i) want(i);
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (auto key = queue.take()) {
        auto& here = inside.at(std::stoul(key->name));
        EXPECT_EQ(here.fetch_add(1), 0);
        const int run = ++runs;
        want(run);
        want(run * 3 + 1);
        here.fetch_sub(1);
        queue.done(*key);
        if (run == 2000) queue.shut_down();
      }
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_GE(runs, 2000);
}

}  // namespace
}  // namespace braidmq::k8s

#include "io/thread_executor.hpp"

#include <future>

#include <gtest/gtest.h>

#include "io/clock.hpp"
#include "io/random.hpp"

namespace braidmq::io {
namespace {

TEST(ThreadExecutor, RunsTasksInOrderOnAThreadOfItsOwn) {
  std::vector<int> order;
  std::thread::id ran_on;
  {
    thread_executor executor("test");
    for (int i = 0; i < 100; ++i) executor.post([&order, i] { order.push_back(i); });
    std::promise<void> done;
    executor.post([&] {
      ran_on = std::this_thread::get_id();
      done.set_value();
    });
    done.get_future().wait();
  }
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST(ThreadExecutor, StopRunsWhatIsQueuedAndDropsWhatComesAfter) {
  thread_executor executor("test");
  int ran = 0;
  for (int i = 0; i < 10; ++i) executor.post([&ran] { ++ran; });
  executor.stop();
  EXPECT_EQ(ran, 10);
  executor.post([&ran] { ++ran; });
  executor.stop();
  EXPECT_EQ(ran, 10);
}

TEST(ThreadExecutor, SeveralThreadsRunTasksAtOnce) {
  std::promise<void> first;
  std::promise<void> second;
  int after_stop = 0;
  thread_executor executor("test", 2);
  // Each waits for the other: one thread would never come to the end.
  executor.post([&] {
    first.set_value();
    second.get_future().wait();
  });
  executor.post([&] {
    first.get_future().wait();
    second.set_value();
  });
  executor.stop();
  executor.post([&] { ++after_stop; });
  EXPECT_EQ(after_stop, 0);
}

TEST(Clock, IsMonotonicAndTellsTheYear) {
  const time_point first = system_clock().now();
  EXPECT_GE(system_clock().now(), first);
  EXPECT_GT(system_clock().wall_ms(), 1'700'000'000'000) << "after 2023";
}

TEST(Random, MakesDistinctVersion4Ids) {
  const uuid a = system_random().next_uuid();
  const uuid b = system_random().next_uuid();
  EXPECT_NE(a, b);
  EXPECT_NE(system_random().next_u64(), system_random().next_u64());
}

}  // namespace
}  // namespace braidmq::io

#include "runtime/timer_queue.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace braidmq::runtime {
namespace {

io::time_point at(int ms) {
  return io::time_point(std::chrono::milliseconds(ms));
}

TEST(timer_queue, runs_in_order_of_due_time_and_equal_times_in_order_of_making) {
  timer_queue timers;
  std::vector<int> ran;
  timers.add(at(20), [&] { ran.push_back(3); });
  timers.add(at(10), [&] { ran.push_back(1); });
  timers.add(at(10), [&] { ran.push_back(2); });
  timers.add(at(21), [&] { ran.push_back(4); });
  EXPECT_EQ(timers.next_due(), at(10));
  EXPECT_EQ(timers.run_due(at(20)), 3U);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(timers.next_due(), at(21));
}

TEST(timer_queue, cancel_says_whether_the_callback_was_stopped) {
  timer_queue timers;
  int ran = 0;
  const auto first = timers.add(at(1), [&] { ++ran; });
  const auto second = timers.add(at(2), [&] { ++ran; });
  EXPECT_TRUE(timers.cancel(second));
  EXPECT_FALSE(timers.cancel(second));
  timers.run_due(at(5));
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(timers.cancel(first));
  EXPECT_FALSE(timers.cancel(io::timer_id{0}));
  EXPECT_EQ(timers.next_due(), std::nullopt);
}

TEST(timer_queue, a_callback_may_cancel_another_that_is_due_with_it) {
  timer_queue timers;
  int ran = 0;
  io::timer_id second{0};
  timers.add(at(1), [&] { EXPECT_TRUE(timers.cancel(second)); });
  second = timers.add(at(1), [&] { ++ran; });
  EXPECT_EQ(timers.run_due(at(1)), 1U);
  EXPECT_EQ(ran, 0);
}

TEST(timer_queue, a_timer_made_by_a_callback_waits_for_the_next_run) {
  timer_queue timers;
  int ran = 0;
  unique_function<void()> again;
  again = [&] {
    ++ran;
    timers.add(at(0), [&] { again(); });
  };
  timers.add(at(0), [&] { again(); });
  timers.add(at(3), [&] { ran += 100; });
  EXPECT_EQ(timers.run_due(at(5)), 2U);
  EXPECT_EQ(ran, 101);
  EXPECT_EQ(timers.run_due(at(5)), 1U);
  timers.clear();
}

TEST(timer_queue, what_a_cancelled_callback_holds_may_cancel_timers_itself) {
  timer_queue timers;
  struct canceller {
    timer_queue* of;
    io::timer_id id;
    ~canceller() { of->cancel(id); }
  };
  const auto second = timers.add(at(2), [] {});
  const auto first = timers.add(at(1), [held = std::make_unique<canceller>(&timers, second)] { (void)held; });
  EXPECT_TRUE(timers.cancel(first));
  EXPECT_EQ(timers.size(), 0U);
}

// Against a model: every timer runs exactly when it should, whatever is added and cancelled.
TEST(timer_queue, agrees_with_a_model_over_random_histories) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    timer_queue timers;
    std::map<std::pair<int, std::uint64_t>, int> model;
    std::map<int, io::timer_id> ids;
    std::vector<int> ran;
    int now = 0;
    for (int step = 0; step < 300; ++step) {
      const auto choice = random() % 10;
      if (choice < 5) {
        const int due = now + static_cast<int>(random() % 20);
        const auto id = timers.add(at(due), [&ran, step] { ran.push_back(step); });
        model[{due, id.value()}] = step;
        ids[step] = id;
      } else if (choice < 7 && !ids.empty()) {
        const auto victim = std::next(ids.begin(), static_cast<std::ptrdiff_t>(random() % ids.size()));
        const auto in_model =
            std::ranges::find_if(model, [&](const auto& one) { return one.first.second == victim->second.value(); });
        EXPECT_EQ(timers.cancel(victim->second), in_model != model.end());
        if (in_model != model.end()) model.erase(in_model);
      } else {
        now += static_cast<int>(random() % 6);
        std::vector<int> expected;
        while (!model.empty() && model.begin()->first.first <= now) {
          expected.push_back(model.begin()->second);
          model.erase(model.begin());
        }
        ran.clear();
        timers.run_due(at(now));
        ASSERT_EQ(ran, expected) << "seed " << seed << " step " << step;
      }
    }
    EXPECT_EQ(timers.size(), model.size());
  }
}

}  // namespace
}  // namespace braidmq::runtime

#include "runtime/task.hpp"

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "io/thread_executor.hpp"
#include "support/manual_loop.hpp"

namespace braidmq::runtime {
namespace {

// What they refer to are locals of the tests, which outlive the loops that run them.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

using callback = unique_function<void(int)>;

// A service that answers by callback, when the test wants it.
struct service {
  std::vector<callback> waiting;
  void ask(callback done) { waiting.push_back(std::move(done)); }
};

task<void> ask_and_note(service& from, std::vector<int>& seen) {
  const auto ask = [&from](callback done) { from.ask(std::move(done)); };
  const int value = co_await await_callback<int>(ask);
  seen.push_back(value);
}

TEST(await_callback, a_later_call_resumes_on_the_executor_not_inside_the_call) {
  asio::io_context loop;
  service from;
  std::vector<int> seen;
  spawn(loop.get_executor(), ask_and_note(from, seen));
  EXPECT_TRUE(from.waiting.empty()) << "spawn must not run anything itself";
  loop.poll();
  ASSERT_EQ(from.waiting.size(), 1U);
  from.waiting[0](7);
  EXPECT_TRUE(seen.empty());
  loop.restart();
  loop.poll();
  EXPECT_EQ(seen, std::vector<int>{7});
}

task<void> ask_at_once(std::vector<int>& seen, int times) {
  const auto ask = [](callback done) { done(1); };
  for (int i = 0; i < times; ++i) seen.push_back(co_await await_callback<int>(ask));
}

TEST(await_callback, a_call_inside_the_call_is_safe_and_does_not_grow_the_stack) {
  asio::io_context loop;
  std::vector<int> seen;
  spawn(loop.get_executor(), ask_at_once(seen, 100'000));
  loop.poll();
  EXPECT_EQ(seen.size(), 100'000U);
}

struct note_end {
  bool* ended;
  ~note_end() { *ended = true; }
};

task<void> ask_with_locals(service& from, bool& ended, bool& went_on) {
  const note_end guard{&ended};
  const auto ask = [&from](callback done) { from.ask(std::move(done)); };
  co_await await_callback<int>(ask);
  went_on = true;
}

TEST(await_callback, a_callback_dropped_without_a_call_unwinds_the_coroutine) {
  asio::io_context loop;
  service from;
  bool ended = false;
  bool went_on = false;
  spawn(loop.get_executor(), ask_with_locals(from, ended, went_on));
  loop.poll();
  from.waiting.clear();
  loop.restart();
  loop.poll();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(went_on);
}

TEST(await_callback, a_callback_that_never_comes_is_freed_with_the_loop_and_the_service) {
  service from;
  bool ended = false;
  bool went_on = false;
  {
    asio::io_context loop;
    spawn(loop.get_executor(), ask_with_locals(from, ended, went_on));
    loop.poll();
    ASSERT_EQ(from.waiting.size(), 1U);
    from.waiting.clear();  // posts the unwinding to a loop that never runs again
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
  EXPECT_FALSE(went_on);
}

task<void> use_other_thread(io::executor& other, shard& home, std::vector<bool>& on_home, std::promise<void>& done) {
  on_home.push_back(home.on_shard());
  const auto ask = [&other](unique_function<void(std::string)> answer) {
    other.post([answer = std::move(answer)]() mutable { answer("from the other thread"); });
  };
  for (int i = 0; i < 50; ++i) {
    const std::string text = co_await await_callback<std::string>(ask);
    on_home.push_back(home.on_shard() && text == "from the other thread");
  }
  done.set_value();
}

TEST(await_callback, a_call_on_another_thread_resumes_on_the_shard) {
  io::thread_executor other("other");
  shard home(0);
  home.start();
  std::vector<bool> on_home;
  std::promise<void> done;
  spawn(home, use_other_thread(other, home, on_home, done));
  done.get_future().get();
  home.stop();
  EXPECT_EQ(on_home, std::vector<bool>(51, true));
}

task<int> add_later(io::timer_service& timers, int a, int b) {
  const auto wait = [&timers](unique_function<void(std::monostate)> done) {
    timers.schedule(std::chrono::seconds(1), [done = std::move(done)]() mutable { done({}); });
  };
  co_await await_callback<std::monostate>(wait);
  co_return a + b;
}

task<void> add_twice(io::timer_service& timers, int& sum) {
  const int first = co_await add_later(timers, 1, 2);
  sum = co_await add_later(timers, first, 4);
}

// As the simulator runs them: one polled io_context, virtual time.
TEST(task, runs_on_a_polled_loop_with_virtual_time) {
  asio::io_context loop;
  testing::manual_loop time;
  int sum = 0;
  spawn(loop.get_executor(), add_twice(time, sum));
  loop.poll();
  time.advance(std::chrono::milliseconds(1500));
  loop.restart();
  loop.poll();
  EXPECT_EQ(sum, 0);
  time.advance(std::chrono::milliseconds(1500));
  loop.restart();
  loop.poll();
  EXPECT_EQ(sum, 7);
}

task<void> throw_something() {
  throw std::runtime_error("the words of the error");
  co_return;
}

TEST(spawn_death_test, an_exception_that_leaves_a_task_ends_the_process_with_its_words) {
  const auto run = [] {
    asio::io_context loop;
    spawn(loop.get_executor(), throw_something());
    loop.poll();
  };
  EXPECT_DEATH(run(), "detached coroutine: the words of the error");
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace braidmq::runtime

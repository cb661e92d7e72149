// operators.md 4.4 on a virtual clock.
#include "k8s/controller.hpp"

#include <condition_variable>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "k8s/errc.hpp"
#include "support/k8s/atomic_clock.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

class controller_test : public ::testing::Test {
 protected:
  controller_test() {
    options.name = "things";
    options.generation_of = [this](const object_key&) { return generation; };
    options.on_fatal = [this](const std::string& why) { fatal = why; };
  }
  void make(controller::reconcile work) { made = std::make_unique<controller>(options, std::move(work), clock); }

  testing::atomic_clock clock;
  controller_options options;
  std::optional<std::int64_t> generation = 1;
  std::string fatal;
  std::unique_ptr<controller> made;
  int runs = 0;
  const object_key a{"n", "a"};
};

TEST_F(controller_test, done_waits_for_the_next_change) {
  make([&](const object_key&) { return ++runs, reconcile_result::done(); });
  made->queue().add(a);
  EXPECT_EQ(made->run_due(), 1U);
  clock.advance(1h);
  EXPECT_EQ(made->run_due(), 0U);
  EXPECT_EQ(made->read_figures().results.at("done"), 1U);
}

TEST_F(controller_test, requeue_comes_back_after_its_time_and_is_no_failure) {
  make([&](const object_key&) { return ++runs, reconcile_result::requeue_after(10s); });
  made->queue().add(a);
  (void)made->run_due();
  clock.advance(10s - 1ns);
  EXPECT_EQ(made->run_due(), 0U);
  clock.advance(1ns);
  EXPECT_EQ(made->run_due(), 1U);
  EXPECT_EQ(made->queue().failures(a), 0);
}

TEST_F(controller_test, failures_back_off_and_success_forgets_them) {
  make([&](const object_key&) {
    return ++runs < 4 ? reconcile_result::failed({errc::network, "away"}) : reconcile_result::done();
  });
  made->queue().add(a);
  (void)made->run_due();
  for (const auto pause : {5ms, 10ms, 20ms}) {
    EXPECT_EQ(made->run_due(), 0U);
    clock.advance(pause);
    EXPECT_EQ(made->run_due(), 1U);
  }
  EXPECT_EQ(made->queue().failures(a), 0);
  EXPECT_EQ(made->read_figures().last_error, "n/a: away: network error");
}

TEST_F(controller_test, exceptions_are_failures) {
  make([&](const object_key&) -> reconcile_result {
    if (++runs == 1) throw std::runtime_error("oops");
    if (runs == 2) throw 7;  // NOLINT: whatever a library throws
    return reconcile_result::done();
  });
  made->queue().add(a);
  (void)made->run_due();
  EXPECT_EQ(made->queue().failures(a), 1);
  EXPECT_NE(made->read_figures().last_error.find("oops"), std::string::npos);
  clock.advance(5ms);
  (void)made->run_due();
  clock.advance(10ms);
  EXPECT_EQ(made->run_due(), 1U);
  EXPECT_EQ(made->read_figures().results.at("exception"), 2U);
  EXPECT_EQ(fatal, "");
}

TEST_F(controller_test, want_of_memory_ends_the_process) {
  make([&](const object_key&) -> reconcile_result { throw std::bad_alloc(); });
  made->queue().add(a);
  (void)made->run_due();
  EXPECT_EQ(fatal, "things: out of memory while reconciling n/a");
  options.on_fatal = nullptr;
  make([&](const object_key&) -> reconcile_result { throw std::bad_alloc(); });
  made->queue().add(a);
  EXPECT_EXIT((void)made->run_due(), ::testing::ExitedWithCode(70), "out of memory");
}

TEST_F(controller_test, a_terminal_failure_waits_for_another_generation) {
  make([&](const object_key&) { return ++runs, reconcile_result::terminal({errc::invalid, "no such config"}); });
  made->queue().add(a);
  (void)made->run_due();
  EXPECT_EQ(made->read_figures().parked, 1U);
  made->queue().add(a);  // a change of its status, say
  (void)made->run_due();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(made->read_figures().results.at("skipped"), 1U);
  generation = 2;
  made->queue().add(a);
  (void)made->run_due();
  EXPECT_EQ(runs, 2);
  generation.reset();  // deleted: there may be something to clean up
  made->queue().add(a);
  (void)made->run_due();
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(made->read_figures().parked, 0U);
}

TEST_F(controller_test, a_change_that_comes_during_a_terminal_failure_is_not_lost) {
  make([&](const object_key& key) {
    if (++runs == 1) {
      generation = 2;
      made->queue().add(key);
      return reconcile_result::terminal({errc::invalid, "of generation 1"});
    }
    return reconcile_result::done();
  });
  made->queue().add(a);
  EXPECT_EQ(made->run_due(), 2U);
  EXPECT_EQ(runs, 2);
}

TEST_F(controller_test, a_reconcile_over_its_deadline_is_stuck_in_words) {
  std::mutex mutex;
  std::condition_variable wakeup;
  bool inside = false, go = false;
  make([&](const object_key&) {
    std::unique_lock lock(mutex);
    inside = true;
    wakeup.notify_all();
    wakeup.wait(lock, [&] { return go; });
    return reconcile_result::done();
  });
  made->start();
  made->queue().add(a);
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(wakeup.wait_for(lock, 10s, [&] { return inside; }));
  }
  clock.advance(2min);
  EXPECT_EQ(made->stuck(), std::nullopt);
  clock.advance(1s);
  EXPECT_EQ(made->stuck(), "things: 1 reconciles are stuck, n/a for 121 s");
  EXPECT_EQ(made->read_figures().queue.longest_running, 121s);
  {
    std::lock_guard lock(mutex);
    go = true;
    wakeup.notify_all();
  }
  made->stop();
  EXPECT_EQ(made->stuck(), std::nullopt);
  EXPECT_EQ(made->read_figures().duration_us.max(), 121'000'000U);
}

TEST(controller_threads_test, four_workers_work_at_once) {
  std::mutex mutex;
  std::condition_variable wakeup;
  int inside = 0;
  controller made({.name = "x"}, [&](const object_key&) {
    std::unique_lock lock(mutex);
    ++inside;
    wakeup.notify_all();
    EXPECT_TRUE(wakeup.wait_for(lock, 10s, [&] { return inside == 4; }));
    return reconcile_result::done();
  });
  made.start();
  for (int i = 0; i < 4; ++i) made.queue().add({"n", std::to_string(i)});
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(wakeup.wait_for(lock, 10s, [&] { return inside == 4; }));
  }
  made.stop();
  EXPECT_EQ(made.read_figures().results.at("done"), 4U);
}

}  // namespace
}  // namespace braidmq::k8s

// An executor, a timer service and a clock that move only when a test says so. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "io/executor.hpp"
#include "io/timers.hpp"
#include "runtime/timer_queue.hpp"

namespace braidmq::testing {

class manual_loop final : public io::executor, public io::timer_service, public io::clock {
 public:
  void post(io::task work) override { queue_.push_back(std::move(work)); }
  io::timer_id schedule(io::duration delay, unique_function<void()> callback) override {
    return timers_.add(now_ + delay, std::move(callback));
  }
  bool cancel(io::timer_id id) override { return timers_.cancel(id); }
  io::time_point now() const override { return now_; }
  std::int64_t wall_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()).count();
  }

  bool run_one() {
    if (queue_.empty()) return false;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    work();
    return true;
  }
  // Runs what is posted, and what that posts, until nothing is left. No timers.
  void run_ready() {
    while (run_one()) {
    }
  }
  // Moves time on, timer by timer, running everything that becomes due.
  void advance(io::duration by) {
    const auto end = now_ + by;
    run_ready();
    while (true) {
      const auto due = timers_.next_due();
      if (!due || *due > end) break;
      now_ = std::max(now_, *due);
      timers_.run_due(now_);
      run_ready();
    }
    now_ = end;
  }
  // Time passes while the loop stands still, as when the machine was suspended: timers fire late.
  void stall(io::duration by) {
    now_ += by;
    timers_.run_due(now_);
    run_ready();
  }
  std::size_t timers() const { return timers_.size(); }

 private:
  std::deque<io::task> queue_;
  runtime::timer_queue timers_;
  io::time_point now_{std::chrono::hours(1)};
};

}  // namespace braidmq::testing

// A clock that stands still until a test moves it, and timers that follow it: callbacks come by the executor, in the
// order of their deadlines.
#pragma once

#include <map>
#include <utility>

#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/timers.hpp"

namespace braidmq::sim {

class manual_clock final : public io::clock {
 public:
  io::time_point now() const override { return now_; }
  std::int64_t wall_ms() const override { return wall_ms_; }

  void advance(io::duration by) {
    now_ += by;
    wall_ms_ += std::chrono::duration_cast<std::chrono::milliseconds>(by).count();
  }

 private:
  io::time_point now_{};
  std::int64_t wall_ms_ = 1'700'000'000'000;
};

class manual_timers final : public io::timer_service {
 public:
  manual_timers(manual_clock& clock, io::executor& owner) : clock_(clock), owner_(owner) {}

  io::timer_id schedule(io::duration delay, unique_function<void()> callback) override {
    ++last_id_;
    waiting_.emplace(last_id_, timer{clock_.now() + delay, std::move(callback)});
    return last_id_;
  }

  // Also takes back what has been posted and has not run.
  bool cancel(io::timer_id id) override { return waiting_.erase(id) > 0; }

  // Moves the clock and posts what has become due. Timers that callbacks set start from the new time.
  void advance(io::duration by) {
    clock_.advance(by);
    std::multimap<io::time_point, io::timer_id> due;
    for (const auto& [id, timer] : waiting_) {
      if (timer.deadline <= clock_.now()) due.emplace(timer.deadline, id);
    }
    for (const auto& [deadline, id] : due) {
      owner_.post([this, id = id] { fire(id); });
    }
  }

  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct timer {
    io::time_point deadline;
    unique_function<void()> callback;
  };

  void fire(io::timer_id id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    auto callback = std::move(found->second.callback);
    waiting_.erase(found);
    callback();
  }

  manual_clock& clock_;
  io::executor& owner_;
  io::timer_id last_id_;
  std::map<io::timer_id, timer> waiting_;
};

}  // namespace braidmq::sim

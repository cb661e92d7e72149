// A wish to end that wakes up whoever waits, and a flag for calls that take one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "io/clock.hpp"

namespace braidmq::k8s {

class stop_signal {
 public:
  void raise() {
    std::lock_guard lock(mutex_);
    flag_ = true;
    wakeup_.notify_all();
  }
  bool raised() const { return flag_; }
  const std::atomic<bool>& flag() const { return flag_; }

  // False when it was raised before the time was over.
  bool wait_for(io::duration time) {
    std::unique_lock lock(mutex_);
    return !wakeup_.wait_for(lock, time, [this] { return flag_.load(); });
  }

 private:
  std::atomic<bool> flag_{false};
  std::mutex mutex_;
  std::condition_variable wakeup_;
};

}  // namespace braidmq::k8s

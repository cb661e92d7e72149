// One-shot timers in order of their due time; equal times in the order in which they were made. Knows no clock and no
// thread: a shard drives one with a single timer of the operating system, a simulator with virtual time.
// One owner, one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/timers.hpp"

namespace braidmq::runtime {

class timer_queue {
 public:
  io::timer_id add(io::time_point due, unique_function<void()> callback);

  // True when the timer was waiting. A callback may cancel any other one, also one that is due in the same run.
  bool cancel(io::timer_id id);

  std::optional<io::time_point> next_due() const;

  // Runs what is due at `now` and was there before this call (a timer made by a callback waits for the next run, so
  // that a chain of zero delays cannot hold the loop). Returns how many ran.
  std::size_t run_due(io::time_point now);

  std::size_t size() const { return timers_.size(); }
  void clear();

 private:
  using key = std::pair<io::time_point, io::timer_id>;

  std::map<key, unique_function<void()>> timers_;
  std::unordered_map<io::timer_id, io::time_point> due_;
  io::timer_id last_{0};
};

}  // namespace braidmq::runtime

// Fetches that wait for more bytes: woken by partition when enough has become visible, or by their deadline.
// Threads: the braid's executor. Bounded by what connections may have under way.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/unique_function.hpp"
#include "braid/fetch.hpp"
#include "braid/machine.hpp"
#include "io/timers.hpp"

namespace braidmq::braid {

class fetch_purgatory {
 public:
  enum class wakeup { bytes_arrived, deleted, deadline, stopped };

  explicit fetch_purgatory(io::timer_service& timers) : timers_(timers) {}
  ~fetch_purgatory();

  // `woken` runs once: when `missing_bytes` have become visible in the partitions of `slices`, when one of them is
  // deleted, after `wait`, or at stop(). Never inside this call.
  void park(const std::vector<fetch_slice>& slices, std::size_t missing_bytes, io::duration wait,
            unique_function<void(wakeup)> woken);

  void on_published(const std::vector<published>& grown);
  void on_deleted(const model::topic_partition_id& partition);
  void stop();

  std::size_t size() const { return waiters_.size(); }

 private:
  using waiter_id = std::uint64_t;
  struct waiter {
    std::size_t missing_bytes;
    std::vector<model::topic_partition_id> partitions;
    io::timer_id timer;
    unique_function<void(wakeup)> woken;
  };

  void wake(waiter_id id, wakeup why);

  io::timer_service& timers_;
  waiter_id last_id_ = 0;
  std::map<waiter_id, waiter> waiters_;
  std::unordered_map<model::topic_partition_id, std::vector<waiter_id>> by_partition_;
};

}  // namespace braidmq::braid

#include "braid/fetch_purgatory.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace braidmq::braid {

fetch_purgatory::~fetch_purgatory() {
  for (const auto& [id, waiter] : waiters_) timers_.cancel(waiter.timer);
}

void fetch_purgatory::park(const std::vector<fetch_slice>& slices, std::size_t missing_bytes, io::duration wait,
                           unique_function<void(wakeup)> woken) {
  const waiter_id id = ++last_id_;
  waiter& parked = waiters_[id];
  parked.missing_bytes = missing_bytes;
  parked.woken = std::move(woken);
  parked.partitions.reserve(slices.size());
  for (const fetch_slice& slice : slices) {
    std::vector<waiter_id>& list = by_partition_[slice.target];
    if (!list.empty() && list.back() == id) continue;  // the same partition twice in one request
    parked.partitions.push_back(slice.target);
    list.push_back(id);
  }
  parked.timer = timers_.schedule(wait, [this, id] { wake(id, wakeup::deadline); });
}

void fetch_purgatory::on_published(const std::vector<published>& grown) {
  std::vector<waiter_id> ready;
  for (const published& one : grown) {
    const auto found = by_partition_.find(one.partition->id());
    if (found == by_partition_.end()) continue;
    for (const waiter_id id : found->second) {
      waiter& parked = waiters_.at(id);
      if (parked.missing_bytes == 0) continue;  // is in `ready`
      parked.missing_bytes -= std::min(parked.missing_bytes, one.bytes);
      if (parked.missing_bytes == 0) ready.push_back(id);
    }
  }
  for (const waiter_id id : ready) wake(id, wakeup::bytes_arrived);
}

void fetch_purgatory::on_deleted(const model::topic_partition_id& partition) {
  const auto found = by_partition_.find(partition);
  if (found == by_partition_.end()) return;
  const std::vector<waiter_id> waiting = found->second;
  for (const waiter_id id : waiting) wake(id, wakeup::deleted);
}

void fetch_purgatory::stop() {
  while (!waiters_.empty()) wake(waiters_.begin()->first, wakeup::stopped);
}

void fetch_purgatory::wake(waiter_id id, wakeup why) {
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) return;
  waiter parked = std::move(found->second);
  waiters_.erase(found);
  if (why != wakeup::deadline) timers_.cancel(parked.timer);
  for (const auto& partition : parked.partitions) {
    const auto list = by_partition_.find(partition);
    BRAID_CHECK(list != by_partition_.end());
    std::erase(list->second, id);
    if (list->second.empty()) by_partition_.erase(list);
  }
  parked.woken(why);
}

}  // namespace braidmq::braid

#include "partition/epoch_cache.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::partition {

void epoch_cache::record(model::leader_epoch epoch, model::offset start) {
  if (!starts_.empty()) {
    BRAID_CHECK(epoch >= starts_.back().epoch, "leader epoch falls from {} to {}", starts_.back().epoch, epoch);
    if (epoch == starts_.back().epoch) return;
    BRAID_CHECK(start >= starts_.back().offset);
  }
  starts_.push_back({epoch, start});
}

void epoch_cache::restore(const storage::epoch_runs& runs) {
  for (const auto& run : runs.all()) record(run.epoch, run.first);
}

std::optional<model::leader_epoch> epoch_cache::latest() const {
  if (starts_.empty()) return std::nullopt;
  return starts_.back().epoch;
}

std::optional<epoch_end> epoch_cache::end_of(model::leader_epoch epoch, model::offset log_end) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), epoch,
                                     [](model::leader_epoch asked, const start& s) { return asked < s.epoch; });
  if (next == starts_.begin()) return std::nullopt;
  return epoch_end{std::prev(next)->epoch, next == starts_.end() ? log_end : next->offset};
}

std::optional<model::offset> epoch_cache::first_start() const {
  if (starts_.empty()) return std::nullopt;
  return starts_.front().offset;
}

std::optional<model::leader_epoch> epoch_cache::epoch_of(model::offset offset) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset,
                                     [](model::offset asked, const start& s) { return asked < s.offset; });
  if (next == starts_.begin()) return std::nullopt;
  return std::prev(next)->epoch;
}

}  // namespace braidmq::partition

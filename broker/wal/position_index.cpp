#include "wal/position_index.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::wal {

void position_index::add(raft::group_id group, raft::index first, raft::index last, const group_place& place) {
  BRAID_CHECK(first <= last && first > raft::index(0), "run of {} to {}", first, last);
  auto& runs = runs_[group];
  while (!runs.empty() && runs.back().first >= first) runs.pop_back();
  if (!runs.empty()) {
    run& before = runs.back();
    before.last = std::min(before.last, first - 1);
    BRAID_CHECK(before.last + 1 == first, "group {}: entries between {} and {} are missing", group, before.last, first);
    if (before.place == place) {
      before.last = last;
      return;
    }
  }
  runs.push_back({first, last, place});
}

std::vector<position_index::run> position_index::find(raft::group_id group, raft::index from,
                                                      std::uint64_t max_bytes) const {
  std::vector<run> found;
  const auto of_group = runs_.find(group);
  if (of_group == runs_.end()) return found;
  const auto& runs = of_group->second;
  auto at = std::partition_point(runs.begin(), runs.end(), [&](const run& r) { return r.last < from; });
  if (at == runs.end() || at->first > from) return found;
  for (std::uint64_t bytes = 0; at != runs.end() && (found.empty() || bytes < max_bytes); ++at) {
    bytes += at->place.size_bytes;
    found.push_back(*at);
  }
  return found;
}

void position_index::release(raft::group_id group, raft::index from) {
  const auto found = runs_.find(group);
  if (found == runs_.end()) return;
  std::deque<run>& runs = found->second;
  while (!runs.empty() && runs.front().last < from) runs.pop_front();
  if (runs.empty()) runs_.erase(found);
}

std::optional<std::uint64_t> position_index::oldest_file() const {
  std::optional<std::uint64_t> oldest;
  for (const auto& [group, runs] : runs_) {
    if (!runs.empty() && (!oldest || runs.front().place.file < *oldest)) oldest = runs.front().place.file;
  }
  return oldest;
}

raft::index position_index::first(raft::group_id group) const {
  const auto of_group = runs_.find(group);
  return of_group == runs_.end() || of_group->second.empty() ? raft::index(0) : of_group->second.front().first;
}

std::size_t position_index::run_count() const {
  std::size_t count = 0;
  for (const auto& [group, runs] : runs_) count += runs.size();
  return count;
}

}  // namespace braidmq::wal

// From which entry on a group keeps its log. A checkpoint needs nothing before it; other voters may: what one that is
// away lacks can be had from the log as long as it is there, and beyond that only as a snapshot. So the log keeps what
// somebody lacks, up to a bound of bytes; who does not lead knows nobody's place and keeps as much as the bound allows.
//
// Pure. Bytes are those that the write-ahead log has written in all its life.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "raft/types.hpp"

namespace braidmq::multiraft {

class log_retention {
 public:
  // With one voter nobody lacks anything.
  log_retention(std::size_t voters, std::uint64_t max_bytes) : voters_(voters), max_bytes_(max_bytes) {}

  // The state up to `index` is in a checkpoint, when the log had written `bytes`.
  void checkpointed(raft::index index, std::uint64_t bytes) {
    if (places_.empty() || places_.back().index < index) places_.push_back({index, bytes});
  }

  // Up to where the log is not needed now, of what has a checkpoint; zero: everything is. `held_by_all`: what each
  // voter is known to have, none when that is not known.
  raft::index dispensable(std::uint64_t bytes, const std::optional<raft::index>& held_by_all) {
    if (places_.empty()) return {};
    const raft::index newest = places_.back().index;
    if (voters_ == 1) return newest;
    // The newest place from which on there are as many bytes as are kept.
    while (places_.size() > 1 && bytes - places_[1].bytes >= max_bytes_) places_.pop_front();
    raft::index last;
    if (bytes - places_.front().bytes >= max_bytes_) last = places_.front().index;
    if (held_by_all) last = std::max(last, std::min(newest, *held_by_all));
    // The last one that all have stays: who sends what follows names its term, also after a start.
    return last > raft::index(0) ? last - 1 : last;
  }

 private:
  struct place {
    raft::index index;
    std::uint64_t bytes = 0;
  };

  std::size_t voters_;
  std::uint64_t max_bytes_;
  std::deque<place> places_;
};

}  // namespace braidmq::multiraft

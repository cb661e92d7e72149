// Where the durable entries of each Raft group lie: one run of indexes for each group write that holds some of them, so
// its size follows writes and not entries. Owned by the log, on the owner's executor.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::wal {

// A group write in a file.
struct group_place {
  std::uint64_t file = 0;
  std::uint64_t position = 0;
  std::uint64_t size_bytes = 0;

  friend bool operator==(const group_place&, const group_place&) = default;
};

class position_index {
 public:
  struct run {
    raft::index first;
    raft::index last;
    group_place place;

    friend bool operator==(const run&, const run&) = default;
  };

  // Entries [first, last] of `group` are at `place`; what was there from `first` on is replaced. There must be no gap.
  void add(raft::group_id group, raft::index first, raft::index last, const group_place& place);

  // The run that holds `from` and those after it, until their writes have `max_bytes` together. Empty when `from` is
  // not held.
  std::vector<run> find(raft::group_id group, raft::index from, std::uint64_t max_bytes) const;

  // Forgets the runs that hold nothing from `from` on.
  void release(raft::group_id group, raft::index from);
  // The oldest file that a run lies in.
  std::optional<std::uint64_t> oldest_file() const;

  // 0 when nothing is held.
  raft::index first(raft::group_id group) const;
  std::size_t run_count() const;

 private:
  std::map<raft::group_id, std::deque<run>> runs_;
};

}  // namespace braidmq::wal

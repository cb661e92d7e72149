// A stretch of a group's log in memory: entries without gaps, new ones at the end, applied ones leave at the front.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::multiraft {

class entry_tail {
 public:
  // The first one replaces the entry of its index and all after it; there must be no gap.
  void append(std::vector<raft::entry> entries);

  bool holds(raft::index index) const {
    return !entries_.empty() && entries_.front().index <= index && index <= entries_.back().index;
  }
  const raft::entry& at(raft::index index) const;
  bool empty() const { return entries_.empty(); }
  raft::index first() const { return entries_.front().index; }  // requires !empty()
  raft::index last() const { return entries_.back().index; }    // requires !empty()

  // Forgets entries up to `index`.
  void drop_through(raft::index index);
  void clear();

  // Payloads and the memory of the entries themselves: a million empty ones are not free.
  std::size_t size_bytes() const { return size_bytes_; }
  static std::size_t cost(const raft::entry& entry) { return sizeof(raft::entry) + entry.payload.size(); }

 private:
  std::deque<raft::entry> entries_;
  std::size_t size_bytes_ = 0;
};

}  // namespace braidmq::multiraft

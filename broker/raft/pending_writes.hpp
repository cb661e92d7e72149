// The writes that a driver has been given and has not yet reported as durable, in order. A report says how far the log
// is durable *as it is now*: entries that were replaced after their write was given out do not count.
#pragma once

#include <deque>

#include "raft/types.hpp"

namespace braidmq::raft {

class pending_writes {
 public:
  struct write {
    index last;  // where the log ended with this write, as the driver names it
    raft::term last_term;
    raft::term term;  // office as of this write
    node_id vote;
    index valid;  // up to here the log is still what it was then
  };

  void add(index last, term last_term, term term, const node_id& vote) {
    writes_.push_back({last, last_term, term, vote, last});
  }
  // The log was cut: entries from `from` on are others.
  void truncated(index from);
  // The oldest one is durable; it must be the one named.
  write done(index last, term last_term);
  bool empty() const { return writes_.empty(); }

 private:
  std::deque<write> writes_;
};

}  // namespace braidmq::raft

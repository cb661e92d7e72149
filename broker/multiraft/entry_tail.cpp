#include "multiraft/entry_tail.hpp"

#include <utility>

#include "base/check.hpp"

namespace braidmq::multiraft {

void entry_tail::append(std::vector<raft::entry> entries) {
  for (raft::entry& entry : entries) {
    while (!entries_.empty() && entries_.back().index >= entry.index) {
      size_bytes_ -= cost(entries_.back());
      entries_.pop_back();
    }
    BRAID_CHECK(entries_.empty() || entries_.back().index + 1 == entry.index, "entry {} after {}", entry.index,
                entries_.back().index);
    size_bytes_ += cost(entry);
    entries_.push_back(std::move(entry));
  }
}

const raft::entry& entry_tail::at(raft::index index) const {
  BRAID_CHECK(holds(index), "entry {} is not in memory", index);
  return entries_[index - entries_.front().index];
}

void entry_tail::drop_through(raft::index index) {
  while (!entries_.empty() && entries_.front().index <= index) {
    size_bytes_ -= cost(entries_.front());
    entries_.pop_front();
  }
}

void entry_tail::clear() {
  entries_.clear();
  size_bytes_ = 0;
}

}  // namespace braidmq::multiraft

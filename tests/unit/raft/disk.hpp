// What one node has durably, and the writes that are under way to it. A crash takes the latter.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "raft/node.hpp"

namespace braidmq::raft::test {

class disk {
 public:
  struct write {
    std::optional<hard_state> state;
    std::vector<entry> entries;
    index last;
    term last_term;
  };

  const hard_state& state() const { return state_; }
  const std::vector<entry>& log() const { return log_; }  // entry i + 1 at i: the whole log, also what is compacted
  index last() const { return index(log_.size()); }
  index base() const { return base_; }
  std::optional<term> term_at(index at) const;
  // As a driver would find it; the state machine stands at the base.
  restored found() const;

  bool is_busy() const { return !writes_.empty(); }
  const std::deque<write>& writes() const { return writes_; }
  void begin(write write) { writes_.push_back(std::move(write)); }
  // The oldest write is done.
  write complete();
  void crash() { writes_.clear(); }

  // Entries up to `through` are no longer to be had.
  void compact(index through) { base_ = std::max(base_, through); }
  // From `from` on, or none when they are not there.
  std::optional<std::vector<entry>> read(index from, index to, std::size_t max_bytes) const;
  // Takes over the committed log of another node up to `through`.
  void install(const disk& other, index through);
  void set(hard_state state, std::vector<entry> log);
  // For bugs that are planted.
  void forget_vote() { state_.vote = {}; }

 private:
  hard_state state_;
  std::vector<entry> log_;
  index base_;
  std::deque<write> writes_;
};

}  // namespace braidmq::raft::test

// Reads that wait for their index (thesis, 6.4). A leader that still leads when its heartbeats are answered by a
// majority may answer every read that came before them with the commit of then: one round for all that wait. A follower
// keeps what it has asked its leader for.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::raft {

class read_queue {
 public:
  struct read {
    std::uint64_t context;  // the driver's; of another node's read: the id in its request
    node_id from;           // none: this node's
  };

  explicit read_queue(std::uint64_t first_id) : next_id_(first_id) {}

  std::size_t size() const { return waiting_.size() + in_round_.size() + asked_.size(); }

  // Leader.
  void add(read read) { waiting_.push_back(std::move(read)); }
  bool wants_round() const { return in_round_.empty() && !waiting_.empty(); }
  bool in_round() const { return !in_round_.empty(); }
  // Everything that waits shares a round; what comes later waits for the next one.
  void begin_round(index commit);
  std::uint64_t round() const { return round_; }
  index round_index() const { return round_index_; }
  std::vector<read> finish_round() { return std::exchange(in_round_, {}); }

  // Follower: returns the id under which the leader is asked.
  std::uint64_t ask(std::uint64_t context);
  // The context that was asked for under `id`, once.
  std::optional<std::uint64_t> answered(std::uint64_t id);
  // A tick: contexts that have waited for `patience` of them are given up.
  std::vector<std::uint64_t> expire(std::uint32_t patience);

  // The leader is another one now: own contexts that are lost, asked or queued.
  std::vector<std::uint64_t> drop_all();

 private:
  struct asked {
    std::uint64_t id;
    std::uint64_t context;
    std::uint32_t ticks;
  };

  std::vector<read> waiting_;
  std::vector<read> in_round_;
  std::uint64_t round_ = 0;
  index round_index_;
  std::vector<asked> asked_;
  std::uint64_t next_id_;
};

}  // namespace braidmq::raft

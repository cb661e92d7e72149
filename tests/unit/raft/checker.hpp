// Watches a cluster and says what no Raft group may ever do (paper, figure 3; reliability list, E1-E8): two leaders in
// a term, logs that agree in an entry and not before it, a leader without a committed entry, committed entries that
// differ or are not on the disks of a majority, a commit that falls or counts entries of older terms, a vote given
// twice, a promise that a crash would break, a read that misses what was committed before it.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster.hpp"

namespace braidmq::raft::test {

class checker final : public observer {
 public:
  // Promises are checked when they are made (strict), or only by what comes of them.
  explicit checker(bool strict = true) : strict_(strict) {}
  void watch(cluster& cluster) { cluster_ = &cluster; }

  void saw(const replica& who, const ready& what) override;
  void sends(const replica& who, const letter& what, bool cut_off) override;
  void refused(const replica& who, const error& why) override;
  void settled(const replica& who) override;
  // A read was accepted under this context.
  void asked(std::uint64_t context) { reads_[context] = committed_.size(); }

  const std::string& violation() const { return violation_; }  // the first one; empty: none
  std::size_t committed() const { return committed_.size(); }
  std::size_t reads_answered() const { return reads_answered_; }
  std::size_t elections() const { return leaders_.size(); }

 private:
  struct commitment {
    std::uint64_t prefix;  // hash of the log up to here
    term at;               // in which it was committed
  };
  // What is known of a replica's present life.
  struct life {
    std::uint64_t number = 0;
    std::vector<std::uint64_t> prefixes;
    index commit;
    role last_role = role::follower;
  };

  void violate(std::string what);
  life& life_of(const replica& who);
  void check_votes_kept(const replica& who);
  void check_log(const replica& who, life& life);
  void check_leader(const replica& who, life& life);
  void check_commit(const replica& who, life& life);
  void check_completeness(const replica& leader, const life& life, std::size_t from);
  void vote(const node_id& voter, term term, const node_id& candidate);

  cluster* cluster_ = nullptr;
  bool strict_;
  std::string violation_;
  std::array<life, config::max_voters + 1> lives_;  // by broker
  std::map<term, node_id> leaders_;
  std::map<std::pair<node_id, term>, node_id> votes_;
  std::unordered_map<std::uint64_t, std::uint64_t> prefix_at_;  // by index and term
  std::vector<commitment> committed_;
  std::unordered_map<std::uint64_t, std::size_t> reads_;
  std::size_t reads_answered_ = 0;
};

}  // namespace braidmq::raft::test

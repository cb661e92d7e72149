// Reaches into a node to put bugs in that it does not have.
#pragma once

#include "raft/node.hpp"

namespace braidmq::raft::test {

struct surgeon {
  static void count_own_vote(node& n) {
    if (n.role_ != role::candidate || !n.votes_.empty()) return;
    for (message& m : n.held_) n.messages_.push_back(std::move(m));
    n.held_.clear();
    n.count_vote(n.config_.self, true);
  }
  static void count_old_terms(node& n) {
    if (n.role_ != role::leader) return;
    n.commit_ = std::max(n.commit_, n.majority_match());
  }
  static void serve_at_once(node& n) { n.own_term_start_ = n.applied_; }
  static void set_term(node& n, term to) { n.term_ = to; }
};

}  // namespace braidmq::raft::test

#include "metadata/quorum.hpp"

#include <algorithm>

#include "metadata/controller.hpp"

namespace braidmq::metadata {

quorum_state controller::quorum() const {
  const raft::node& node = group_->node();
  quorum_state now{node.current_term(), node.leader(), node.commit_index(), {}};
  const raft::node_id& self = options_.group.raft.self;
  const bool leads = node.current_role() == raft::role::leader;
  for (const raft::node_id& voter : options_.group.raft.voters) {
    voter_progress& one = now.voters.emplace_back(voter_progress{voter, std::nullopt});
    if (voter == self) {
      one.last = node.persisted_index();
    } else if (leads) {
      const auto peer = std::ranges::find(node.peers(), voter, &raft::progress::id);
      if (peer != node.peers().end()) one.last = peer->match();
    }
  }
  return now;
}

}  // namespace braidmq::metadata

// Leadership handed over by wish (thesis, 3.10).
#include <tuple>

#include "raft/sending.hpp"

namespace braidmq::raft {

status node::transfer(const node_id& to) {
  if (role_ != role::leader) return fail(errc::not_leader);
  if (is_transferring()) return fail(errc::transferring);
  // Of those that keep up, who has been there longest: to one that has just come back, clients have not found again.
  const auto fitness = [this](const progress& peer) {
    return std::tuple(peer.is_alive(), peer.match() >= commit_, peer.heard_in_a_row(), peer.match());
  };
  const auto target =
      to.is_none() ? std::max_element(peers_.begin(), peers_.end(),
                                      [&](const progress& a, const progress& b) { return fitness(a) < fitness(b); })
                   : std::find_if(peers_.begin(), peers_.end(), [&](const progress& peer) { return peer.id() == to; });
  if (target == peers_.end()) return fail(errc::no_such_voter);
  transfer_target_ = target->id();
  transfer_ticks_ = 0;
  try_transfer();
  return {};
}

// Once the target has the whole log, which no longer grows. Said again with each answer of it, for it may be lost.
void node::try_transfer() {
  if (!is_transferring()) return;
  const progress& target = *find_peer(transfer_target_);
  if (target.match() == log_.last()) send(target.id(), timeout_now{});
}

void node::on(const message& message, const timeout_now& /*now*/) {
  if (role_ == role::follower && message.from == leader_ && campaigns_) start_election(false, true);
}

}  // namespace braidmq::raft

// Reads: own ones, and those of followers.
#include "raft/sending.hpp"

namespace braidmq::raft {

status node::read_index(std::uint64_t context) {
  if (leader_.is_none()) return fail(errc::not_leader);
  // Before an own entry is committed a leader does not know how far its predecessors' are (thesis, 6.4).
  if (role_ == role::leader && commit_ < own_term_start_) return fail(errc::not_ready);
  if (reads_.size() >= config_.max_reads) return fail(errc::too_many_reads);
  if (role_ != role::leader) {
    send(leader_, read_index_request{reads_.ask(context)});
  } else if (peers_.empty()) {
    read_answers_.push_back({context, commit_});
  } else {
    reads_.add({context, {}});
  }
  return {};
}

void node::begin_read_round() {
  reads_.begin_round(commit_);
  broadcast_heartbeat();
}

void node::finish_read_round() {
  if (!reads_.in_round()) return;
  std::size_t heard = 1;
  for (const progress& peer : peers_) heard += peer.round >= reads_.round() ? 1 : 0;
  if (!is_quorum(heard)) return;
  const index index = reads_.round_index();
  for (const read_queue::read& read : reads_.finish_round()) {
    if (read.from.is_none()) {
      read_answers_.push_back({read.context, index});
    } else {
      send(read.from, read_index_response{.id = read.context, .index = index});
    }
  }
}

void node::on(const message& message, const read_index_request& request) {
  if (role_ == role::leader && commit_ >= own_term_start_ && reads_.size() < config_.max_reads) {
    reads_.add({request.id, message.from});
  } else {
    send(message.from, read_index_response{.id = request.id, .refused = true, .index = {}});
  }
}

void node::on(const message& message, const read_index_response& response) {
  if (message.from != leader_ || response.index > max_index) return;
  const auto context = reads_.answered(response.id);
  if (!context) return;
  read_answers_.push_back({*context, response.refused ? std::nullopt : std::optional(response.index)});
}

}  // namespace braidmq::raft

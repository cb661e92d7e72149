#include "base/check.hpp"
#include "raft/sending.hpp"

namespace braidmq::raft {

void node::reset_election_timer() {
  ticks_ = 0;
  election_timeout_ =
      config_.election_ticks + static_cast<std::uint32_t>(next_random(random_state_) % config_.election_ticks);
}

void node::tick() {
  for (const std::uint64_t context : reads_.expire(config_.election_ticks)) {
    read_answers_.push_back({context, std::nullopt});
  }
  ++ticks_;
  if (role_ != role::leader) {
    if (ticks_ < election_timeout_) return;
    if (campaigns_) return campaign();
    // Nobody is known to lead any more, and others must find out who will.
    become_follower(term_, {});
    return;
  }
  if (peers_.empty()) return;  // nobody to send a heartbeat to
  if (is_transferring() && ++transfer_ticks_ >= config_.election_ticks) transfer_target_ = {};
  if (ticks_ >= config_.election_ticks) check_quorum();
  if (role_ == role::leader && ++heartbeat_ticks_ >= config_.heartbeat_ticks) broadcast_heartbeat();
}

void node::campaign() {
  if (role_ == role::leader || !campaigns_) return;
  if (role_ == role::candidate && !is_office_durable()) return;
  start_election(!peers_.empty(), false);
}

void node::set_campaigns(bool campaigns) {
  campaigns_ = campaigns;
  if (!campaigns_ && (role_ == role::pre_candidate || role_ == role::candidate)) become_follower(term_, {});
}

void node::start_election(bool pre, bool transfer) {
  if (term_ >= max_term) return;
  become_follower(pre ? term_ : term_ + 1, {});
  role_ = pre ? role::pre_candidate : role::candidate;
  if (!pre) vote_ = config_.self;
  for (const progress& peer : peers_) {
    const vote_request request{
        .pre = pre, .transfer = transfer, .last_index = log_.last(), .last_term = log_.last_term()};
    // A vote that is given lets others rely on the log that it was asked for with, so that log must be durable, as the
    // own vote must. A pre-vote is an opinion.
    if (pre) {
      send(peer.id(), request);
    } else {
      send_when_office_is_durable(peer.id(), request);
    }
  }
  if (pre) count_vote(config_.self, true);
}

void node::become_follower(term term, const node_id& leader) {
  BRAID_CHECK(term >= term_, "the term falls from {} to {}", term_, term);
  if (term > term_) {
    term_ = term;
    vote_ = {};
    verified_ = commit_;  // the leader of any later term has what is committed
    ack_owed_ = false;
    held_.clear();
  } else if (role_ == role::candidate) {
    held_.clear();
  }
  if (role_ == role::leader || leader_ != leader) lose_reads();
  role_ = role::follower;
  leader_ = leader;
  votes_.clear();
  transfer_target_ = {};
  reset_election_timer();
}

void node::become_leader() {
  role_ = role::leader;
  leader_ = config_.self;
  votes_.clear();
  ticks_ = 0;
  heartbeat_ticks_ = 0;
  own_term_start_ = log_.last() + 1;
  for (progress& peer : peers_) peer.reset(own_term_start_);
  append(entry_kind::noop, {});
  bound_terms();
}

void node::hear_leader(const node_id& leader) {
  if (role_ != role::follower || leader_ != leader) {
    become_follower(term_, leader);
  } else {
    ticks_ = 0;
  }
}

bool node::is_in_lease() const {
  return role_ == role::leader || (!leader_.is_none() && ticks_ < config_.election_ticks);
}

// What the message's term means for ours; false when there is nothing more in it.
bool node::step_term(const message& message) {
  const auto* request = std::get_if<vote_request>(&message.body);
  const auto* response = std::get_if<vote_response>(&message.body);
  const bool is_pre_vote = (request != nullptr && request->pre) || (response != nullptr && response->pre);
  // Who hears a leader does not help another one up, nor lets its term be moved by somebody that was cut off.
  if (request != nullptr && !request->transfer && is_in_lease()) return false;
  if (message.term > term_) {
    if (request != nullptr && is_pre_vote) return true;
    const bool is_leader = std::holds_alternative<append_request>(message.body) ||
                           std::holds_alternative<heartbeat>(message.body) ||
                           std::holds_alternative<commit_notice>(message.body);
    become_follower(message.term, is_leader ? message.from : node_id{});
    return true;
  }
  if (message.term == term_) return true;
  // A leader or candidate of an older term learns that there is a newer one; an answer of an older term says nothing.
  if (std::holds_alternative<append_request>(message.body) || std::holds_alternative<heartbeat>(message.body)) {
    send_when_office_is_durable(message.from, heartbeat_response{});
    return false;
  }
  return is_pre_vote || request != nullptr;
}

void node::on(const message& message, const vote_request& request) {
  const term asked = request.pre ? message.term + 1 : message.term;
  if (request.last_index > max_index) return;
  const bool is_up_to_date = request.last_term > log_.last_term() ||
                             (request.last_term == log_.last_term() && request.last_index >= log_.last());
  const bool is_free = request.pre
                           ? asked > term_ && message.term >= term_
                           : asked == term_ && (vote_ == message.from || (vote_.is_none() && leader_.is_none()));
  const bool granted = is_up_to_date && is_free;
  if (granted && !request.pre) {
    if (role_ == role::pre_candidate) become_follower(term_, {});
    vote_ = message.from;
    reset_election_timer();
  }
  send_when_office_is_durable(message.from, vote_response{.pre = request.pre, .granted = granted, .asked = asked});
}

void node::on(const message& message, const vote_response& response) {
  const role counting = response.pre ? role::pre_candidate : role::candidate;
  const term asked = response.pre ? term_ + 1 : term_;
  // Before the own vote no other one counts: it says that this candidacy is durable.
  if (role_ == counting && response.asked == asked && !votes_.empty()) count_vote(message.from, response.granted);
}

// The first answer of each voter counts.
void node::count_vote(const node_id& voter, bool granted) {
  const auto is_voters = [&](const auto& vote) { return vote.first == voter; };
  if (std::any_of(votes_.begin(), votes_.end(), is_voters)) return;
  votes_.emplace_back(voter, granted);
  const auto grants = static_cast<std::size_t>(
      std::count_if(votes_.begin(), votes_.end(), [](const auto& vote) { return vote.second; }));
  if (is_quorum(grants)) {
    if (role_ == role::pre_candidate) {
      start_election(false, false);
    } else {
      become_leader();
    }
  } else if (is_quorum(votes_.size() - grants)) {
    become_follower(term_, {});
  }
}

// A leader that no majority answers may have been replaced already; it lets its clients look for another one.
void node::check_quorum() {
  ticks_ = 0;
  std::size_t heard = 1;
  for (progress& peer : peers_) heard += peer.take_heard() ? 1 : 0;
  if (!is_quorum(heard)) become_follower(term_, {});
}

}  // namespace braidmq::raft

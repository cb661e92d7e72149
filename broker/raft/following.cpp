// The follower's side of the log.
#include "base/check.hpp"
#include "raft/sending.hpp"

namespace braidmq::raft {
namespace {

// Whether a leader can have sent this: entries that follow one another, none of a newer term than its own.
bool is_plausible(const message& message, const append_request& request) {
  if (request.prev_index > max_index || request.prev_term > message.term) return false;
  if ((request.prev_index == index(0)) != (request.prev_term == term(0))) return false;
  index last = request.prev_index;
  term newest = request.prev_term;
  for (const entry& e : request.entries) {
    if (e.index != last + 1 || e.term < newest || e.term == term(0) || e.term > message.term) return false;
    last = e.index;
    newest = e.term;
  }
  return last <= max_index;
}

}  // namespace

void node::on(const message& message, append_request& request) {
  // One leader a term: another one cannot be.
  if (role_ == role::leader || !is_plausible(message, request)) return;
  hear_leader(message.from);
  const index last_sent = request.prev_index + request.entries.size();
  if (request.prev_index > commit_ && log_.term_at(request.prev_index) != request.prev_term) {
    return reject_append(message, request);
  }
  take_entries(request);
  // Below commit every log agrees with every later leader's.
  verified_ = std::max({verified_, last_sent, commit_});
  commit_ = std::max(commit_, std::min(request.commit, last_sent));
  ack_owed_ = true;
  // What is not yet durable is acknowledged when it is, many appends at once.
  if (verified_ <= persisted_) acknowledge();
}

void node::reject_append(const message& message, const append_request& request) {
  const index common = log_.last_of_term(request.prev_index, request.prev_term).value_or(commit_);
  send_when_office_is_durable(message.from, append_response{.rejected = true,
                                                            .index = request.prev_index,
                                                            .hint_index = common,
                                                            .hint_term = log_.term_at(common).value_or(term(0))});
}

void node::take_entries(append_request& request) {
  for (entry& e : request.entries) {
    const std::optional<term> known = log_.term_at(e.index);
    // Below what is known lies only what is committed: create() demands it, and compacted().
    if (known == e.term || e.index < log_.first_known()) continue;
    if (e.index <= log_.last()) {
      BRAID_CHECK(e.index > commit_, "entry {} of term {} is committed, the leader of term {} has one of term {}",
                  e.index, known.value_or(term(0)), term_, e.term);
      log_.truncate(e.index);
      writes_.truncated(e.index);
      persisted_ = std::min(persisted_, log_.last());
      BRAID_CHECK(verified_ < e.index, "entry {} was this leader's, and is replaced by it", e.index);
    }
    log_.append(std::move(e));
  }
  bound_terms();
}

void node::on(const message& message, const heartbeat& heartbeat) {
  if (role_ == role::leader) return;
  hear_leader(message.from);
  learn_acknowledged_commit(heartbeat.commit);
  send_when_office_is_durable(message.from, heartbeat_response{heartbeat.round});
}

void node::on(const message& message, const commit_notice& notice) {
  if (role_ == role::leader) return;
  hear_leader(message.from);
  learn_acknowledged_commit(notice.commit);
}

// Heartbeats and notices name no more than what this node has acknowledged to this leader, so that its log agrees so
// far, also after a restart that has forgotten the acknowledgement. More than what is durable cannot be.
void node::learn_acknowledged_commit(index commit) {
  if (commit > persisted_) return;
  commit_ = std::max(commit_, commit);
  verified_ = std::max(verified_, commit_);
}

// Says how far the log agrees with the leader's and is durable.
void node::acknowledge() {
  if (role_ != role::follower || leader_.is_none()) return;
  const index durable = std::min(verified_, persisted_);
  ack_owed_ = durable < verified_;
  send_when_office_is_durable(leader_, append_response{.index = durable, .hint_index = {}, .hint_term = {}});
}

}  // namespace braidmq::raft

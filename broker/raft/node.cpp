#include "raft/node.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "raft/sending.hpp"

namespace braidmq::raft {

result<node> node::create(config config, restored restored) {
  BRAID_TRY_VOID(check(config));
  BRAID_TRY_VOID(check(config, restored));
  return node(std::move(config), std::move(restored));
}

node::node(config config, restored restored)
    : config_(std::move(config)),
      random_state_(config_.seed),
      term_(restored.state.term),
      vote_(restored.state.vote),
      durable_term_(term_),
      durable_vote_(vote_),
      log_(std::move(restored.terms), restored.last_index, restored.last_term),
      persisted_(restored.last_index),
      // What was applied was committed, also when the stored hint is older.
      commit_(std::max(restored.state.commit, restored.applied)),
      applied_(restored.applied),
      handed_state_(restored.state),
      handed_commit_(restored.applied),
      verified_(commit_),
      reads_(mixed(config_.seed)) {
  for (const node_id& voter : config_.voters) {
    if (voter != config_.self) peers_.emplace_back(voter);
  }
  if (peers_.empty()) config_.keep_bytes = 0;
  reset_election_timer();
}

progress* node::find_peer(const node_id& id) {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const progress& p) { return p.id() == id; });
  return found == peers_.end() ? nullptr : &*found;
}

void node::step(message message) {
  progress* peer = find_peer(message.from);
  if (peer == nullptr || message.to != config_.self || message.term > max_term) return;
  if (!step_term(message)) return;
  if (role_ == role::leader && message.term == term_) peer->heard();
  std::visit([&](auto& body) { on(message, body); }, message.body);
}

result<index> node::propose(bytes payload) {
  if (role_ != role::leader) return fail(errc::not_leader);
  if (is_transferring()) return fail(errc::transferring);
  append(entry_kind::command, std::move(payload));
  return log_.last();
}

bool node::has_ready() const {
  return log_.has_new() || handed_state_.term != term_ || handed_state_.vote != vote_ ||
         handed_commit_ < visible_commit() || !messages_.empty() || !read_answers_.empty() ||
         !snapshots_wanted_.empty() ||
         (role_ == role::leader &&
          (reads_.wants_round() ||
           std::any_of(peers_.begin(), peers_.end(), [this](auto& p) { return is_sendable(p); })));
}

ready node::take_ready() {
  ready result;
  if (role_ == role::leader) {
    if (reads_.wants_round()) begin_read_round();
    send_what_waits(result);
  }
  const bool office_changed = handed_state_.term != term_ || handed_state_.vote != vote_;
  if (office_changed || log_.has_new()) {
    const hard_state now{term_, vote_, commit_};
    if (now != handed_state_) result.state = now;
    handed_state_ = now;
    result.entries = log_.take_new();
    writes_.add(log_.last(), log_.last_term(), term_, vote_);
  }
  BRAID_CHECK(visible_commit() >= handed_commit_, "commit falls from {} to {}", handed_commit_, visible_commit());
  result.commit = handed_commit_ = visible_commit();
  result.messages = std::exchange(messages_, {});
  result.reads = std::exchange(read_answers_, {});
  result.snapshots_wanted = std::exchange(snapshots_wanted_, {});
  return result;
}

void node::persisted(index last, term last_term) {
  const pending_writes::write done = writes_.done(last, last_term);
  BRAID_CHECK(persisted_ <= done.valid && done.valid <= log_.last(), "persisted {} of {} after {}, the log ends at {}",
              done.valid, last, persisted_, log_.last());
  const bool has_grown = done.valid > persisted_;
  persisted_ = done.valid;
  durable_term_ = done.term;
  durable_vote_ = done.vote;
  log_.release(persisted_, config_.keep_bytes);
  if (is_office_durable()) {
    for (message& waiting : held_) messages_.push_back(std::move(waiting));
    held_.clear();
    // The own vote counts when it can no longer be forgotten; then the others have a whole timeout to answer.
    if (role_ == role::candidate && votes_.empty()) {
      ticks_ = 0;
      count_vote(config_.self, true);
    }
  }
  if (role_ == role::leader) advance_commit();
  if (ack_owed_ && (has_grown || verified_ <= persisted_)) acknowledge();
}

void node::applied(index index) {
  BRAID_CHECK(applied_ <= index && index <= handed_commit_, "applied {} after {}, commit is {}", index, applied_,
              handed_commit_);
  applied_ = index;
}

bool node::serves() const {
  return role_ == role::leader && applied_ >= own_term_start_;
}

void node::compacted(index through) {
  BRAID_CHECK(through <= applied_, "entries up to {} are gone, {} is applied", through, applied_);
  log_.forget(through);
}

// A log of so many leaders is not probed term by term: who lags behind the oldest ones gets a snapshot.
void node::bound_terms() {
  while (log_.terms().size() > max_term_runs && log_.terms()[1].first <= commit_) log_.forget(log_.terms()[1].first);
}

void node::lose_reads() {
  for (const std::uint64_t context : reads_.drop_all()) read_answers_.push_back({context, std::nullopt});
}

}  // namespace braidmq::raft

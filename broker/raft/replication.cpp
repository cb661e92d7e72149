// The leader's side of the log.
#include <array>

#include "base/check.hpp"
#include "raft/sending.hpp"

namespace braidmq::raft {

void node::append(entry_kind kind, bytes payload) {
  log_.append({term_, log_.last() + 1, kind, std::move(payload)});
}

// The highest index that is durable on a majority; the own log counts as far as it is durable.
index node::majority_match() const {
  std::array<index, config::max_voters> matches;
  std::size_t count = 0;
  matches.at(count++) = persisted_;
  for (const progress& peer : peers_) matches.at(count++) = peer.match();
  const std::size_t majority = config_.voters.size() / 2;  // so many stand before the one that a majority has
  const auto median = matches.begin() + static_cast<std::ptrdiff_t>(majority);
  std::nth_element(matches.begin(), median, matches.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
  return *median;
}

// Entries of older terms are committed by the first one of the own term only (paper, 5.4.2 and figure 8).
void node::advance_commit() {
  const index match = majority_match();
  if (match < own_term_start_ || match <= commit_) return;
  commit_ = match;
}

bool node::is_sendable(const progress& peer) const {
  return peer.may_send(log_.last(), config_.max_in_flight_appends, config_.max_in_flight_bytes) || peer.must_ping() ||
         peer.owes_commit(commit_);
}

void node::send_what_waits(ready& ready) {
  for (progress& peer : peers_) {
    while (peer.may_send(log_.last(), config_.max_in_flight_appends, config_.max_in_flight_bytes)) {
      send_append(peer, ready);
    }
    if (peer.must_ping()) {
      peer.pinged();
      // Its rejection leads to a snapshot where the entries that went there are compacted since.
      const index prev = std::max(peer.next() - 1, log_.first_known());
      emit_append(peer, prev, *log_.term_at(prev), {});
    }
    if (peer.owes_commit(commit_)) {
      peer.told_commit(peer.commit_for(commit_));
      send(peer.id(), commit_notice{peer.commit_for(commit_)});
    }
  }
}

void node::send_append(progress& peer, ready& ready) {
  const index prev = peer.next() - 1;
  const std::optional<term> prev_term = log_.term_at(prev);
  if (!prev_term) return want_snapshot(peer);
  if (peer.next() > log_.last()) return emit_append(peer, prev, *prev_term, {});
  if (peer.next() >= log_.first_in_memory()) {
    return emit_append(peer, prev, *prev_term, log_.copy(peer.next(), config_.max_append_bytes));
  }
  ready.entries_wanted.push_back(
      {next_request_, peer.id(), peer.next(), log_.first_in_memory(), config_.max_append_bytes});
  peer.wait_for_entries(next_request_++);
}

void node::emit_append(progress& peer, index prev, term prev_term, std::vector<entry> entries) {
  std::size_t bytes = 0;
  for (const entry& e : entries) bytes += entry_cost(e);
  const index last = prev + entries.size();
  peer.sent(last, bytes, commit_);
  send(peer.id(), append_request{prev, prev_term, commit_, std::move(entries)});
}

void node::want_snapshot(progress& peer) {
  peer.become_snapshot();
  snapshots_wanted_.push_back(peer.id());
}

void node::supply(std::uint64_t request, std::vector<entry> entries) {
  const auto peer = std::find_if(peers_.begin(), peers_.end(),
                                 [request](const progress& p) { return p.entries_request() == request; });
  if (role_ != role::leader || request == 0 || peer == peers_.end()) return;
  BRAID_CHECK(!entries.empty(), "no entries for request {}", request);
  index next = peer->next();
  for (const entry& e : entries) {
    const auto known = log_.term_at(e.index);
    BRAID_CHECK(e.index == next && known && *known == e.term, "storage gave entry {} of term {} as entry {} of term {}",
                e.index, e.term, next, known.value_or(term(0)));
    next = next + 1;
  }
  peer->entries_came();
  const index prev = peer->next() - 1;
  if (const auto prev_term = log_.term_at(prev)) {
    emit_append(*peer, prev, *prev_term, std::move(entries));
  } else {
    want_snapshot(*peer);
  }
}

void node::unavailable(std::uint64_t request) {
  if (role_ != role::leader || request == 0) return;
  for (progress& peer : peers_) {
    if (peer.entries_request() == request) want_snapshot(peer);
  }
}

void node::snapshot_done(const node_id& id, std::optional<index> installed) {
  progress* peer = find_peer(id);
  if (role_ != role::leader || peer == nullptr || peer->current() != progress::state::snapshot) return;
  // Whether it has what it is said to have, its answer to the next probe tells.
  peer->become_probe(std::min(installed.value_or(peer->match()), log_.last()) + 1);
}

void node::broadcast_heartbeat() {
  heartbeat_ticks_ = 0;
  for (progress& peer : peers_) send(peer.id(), heartbeat{peer.commit_for(commit_), reads_.round()});
}

void node::on(const message& message, const append_response& response) {
  if (role_ != role::leader || response.index > log_.last()) return;
  progress& peer = *find_peer(message.from);
  if (!response.rejected) {
    // From a follower that was given a snapshot: it goes on from there, if we still can.
    if (peer.current() == progress::state::snapshot && response.index >= log_.first_known()) {
      peer.become_probe(response.index + 1);
    }
    if (peer.accepted(response.index)) advance_commit();
    try_transfer();
    return;
  }
  if (!peer.is_news(response.index)) return;
  // Skips whole terms: below the hint, and of no newer term than the follower has there. Where our terms do not reach
  // down so far, the append that follows finds that out and wants a snapshot.
  const auto common = log_.last_of_term(response.hint_index, response.hint_term);
  const index next = common ? *common + 1 : log_.first_known();
  peer.become_probe(std::min(next, response.index));
}

void node::on(const message& message, const heartbeat_response& response) {
  if (role_ != role::leader || response.round > reads_.round()) return;
  progress& peer = *find_peer(message.from);
  peer.answered_heartbeat(log_.last());
  peer.round = std::max(peer.round, response.round);
  finish_read_round();
  try_transfer();
}

}  // namespace braidmq::raft

// One member of one Raft group as a pure state machine, in the manner of etcd's raft: events go in (`step`, `tick`,
// `propose`, `persisted`, `applied`), effects come out (`take_ready`). No clock, socket, file or global randomness: the
// same events give the same effects. Single-threaded; the owner is whoever drives the group (multiraft).
//
// Storage is asynchronous. The leader's entries may be sent before they are durable here, and its own vote, for an
// election as for an entry, counts once `persisted` has been told. Everything that promises something to others (votes,
// requests for votes, acknowledgements, any answer in a new term) is held back here until what it promises is durable.
//
// The log is storage's. The node keeps the terms of its entries as runs (restored::terms) and the entries that are
// recent; older ones that a follower lacks are asked for (ready::entries_wanted), and where storage has dropped them, a
// snapshot is (ready::snapshots_wanted). How a snapshot travels is not the node's matter: a follower that has installed
// one is made anew by create(), from what storage then holds.
//
// Elections: pre-vote, a lease (who hears a leader grants no vote), check-quorum (a leader that hears no majority steps
// down), transfer. Reads: one heartbeat round for all that wait. Commit counts entries of the own term only.
// Membership is fixed for the life of a node; learners and joint consensus are not built. They have their place: every
// majority is counted in node::is_quorum and node::majority_match, every peer has a progress of its own, and
// entry_kind has room for an entry that names voters.
//
// Calls that break the protocol between driver and node (a report of what was never handed out, an apply beyond commit)
// stop the process, and so does a leader that contradicts a committed entry. Messages are input: what cannot be is
// ignored (message.hpp). Memory: config.hpp names every bound; a message is one bounded step.
//
// Sources: Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), 5 and figure 8; Ongaro's
// thesis (2014), 3.10 transfer, 6.4 reads, 9.6 pre-vote, 10.2.1 parallel write, 10.2.2 pipelining; the design notes of
// etcd's raft on progress, check-quorum and asynchronous storage writes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "raft/config.hpp"
#include "raft/errc.hpp"
#include "raft/log_view.hpp"
#include "raft/message.hpp"
#include "raft/pending_writes.hpp"
#include "raft/progress.hpp"
#include "raft/read_queue.hpp"
#include "raft/ready.hpp"
#include "raft/types.hpp"

namespace braidmq::raft {

namespace test {
struct surgeon;  // plants bugs, to prove that the checker of the tests finds them
}

// A pre-candidate asks whether an election would succeed; its term has not moved.
enum class role { follower, pre_candidate, candidate, leader };

class node {
 public:
  static result<node> create(config config, restored restored);

  // Time passes: one tick. Elections and heartbeats come from here and from nowhere else. After a pause of the process
  // the driver owes one tick, not those that were missed.
  void tick();
  // Starts an election now (a single voter needs no timeout). A leader, and a candidate whose vote is still on its way
  // to disk, go on as they are; a node that never campaigns does not.
  void campaign();
  // Messages of nodes that are not voters in this life are ignored, whatever their term.
  void step(message message);

  // Leader only. The entry's index is its place if this leader keeps its office; nothing is promised before it is
  // applied. errc::not_leader, errc::transferring.
  result<index> propose(bytes payload);

  // Asks for an index that holds all that was acknowledged before this call; answered in a later ready's `reads`, or
  // named there as lost. A follower asks its leader. Contexts are the caller's and come back as they are.
  // errc::not_leader (nobody is known to lead), errc::not_ready, errc::too_many_reads.
  status read_index(std::uint64_t context);

  // Leader only: lets `to` lead, or with none the voter that has most of the log. Proposals are refused until it has
  // happened or an election timeout has passed. errc::not_leader, errc::transferring, errc::no_such_voter.
  status transfer(const node_id& to = {});
  bool is_transferring() const { return !transfer_target_.is_none(); }
  // A node that is being drained never campaigns, yet votes and follows; as a leader it stays until a transfer. Where
  // no other can lead the group has no leader.
  void set_campaigns(bool campaigns);

  // Where the log ends as the node sees it, durable or not; what a driver passes to persisted() for a ready that it has
  // just taken.
  index last_index() const { return log_.last(); }
  term last_term() const { return log_.last_term(); }

  bool has_ready() const;
  ready take_ready();
  // The oldest ready that needed persisting is durable. `last` and `last_term` name the last entry of the log then.
  void persisted(index last, term last_term);
  void applied(index index);

  // Answers to ready::entries_wanted; stale ones are ignored. The entries follow one another from the index asked for.
  void supply(std::uint64_t request, std::vector<entry> entries);
  void unavailable(std::uint64_t request);
  // The end of what ready::snapshots_wanted began: `peer` now has everything up to `index`, or (none) it has failed,
  // and the snapshot is wanted again when the peer still needs it. The driver paces that.
  void snapshot_done(const node_id& peer, std::optional<index> index);
  // Storage no longer gives entries up to `through`, all of them applied.
  void compacted(index through);

  role current_role() const { return role_; }
  // None while nobody is known to lead.
  const node_id& leader() const { return leader_; }
  term current_term() const { return term_; }
  index commit_index() const { return commit_; }
  index persisted_index() const { return persisted_; }
  index applied_index() const { return applied_; }
  // True once this leader's state machine has applied an entry of its own term: before that it serves nothing.
  bool serves() const;
  // Of each other voter, as of this leader's term; meaningful on a leader only.
  const std::vector<progress>& peers() const { return peers_; }
  const log_view& log() const { return log_; }

 private:
  static constexpr std::size_t max_term_runs = 4096;

  friend struct test::surgeon;

  node(config config, restored restored);

  // node.cpp
  progress* find_peer(const node_id& id);
  bool is_quorum(std::size_t voters) const { return voters > config_.voters.size() / 2; }
  bool is_office_durable() const { return durable_term_ == term_ && durable_vote_ == vote_; }
  index visible_commit() const { return commit_ < persisted_ ? commit_ : persisted_; }
  template <class Body>
  void send(const node_id& to, Body body);
  template <class Body>
  void send_when_office_is_durable(const node_id& to, Body body);
  void bound_terms();
  void lose_reads();

  // election.cpp
  void become_follower(term term, const node_id& leader);
  void start_election(bool pre, bool transfer);
  void become_leader();
  void reset_election_timer();
  void hear_leader(const node_id& leader);
  bool is_in_lease() const;
  bool step_term(const message& message);
  void on(const message& message, const vote_request& request);
  void on(const message& message, const vote_response& response);
  void count_vote(const node_id& voter, bool granted);
  void check_quorum();

  // replication.cpp, the leader's side
  void append(entry_kind kind, bytes payload);
  void advance_commit();
  index majority_match() const;
  bool is_sendable(const progress& peer) const;
  void send_what_waits(ready& ready);
  void send_append(progress& peer, ready& ready);
  void emit_append(progress& peer, index prev, term prev_term, std::vector<entry> entries);
  void want_snapshot(progress& peer);
  void broadcast_heartbeat();
  void on(const message& message, const append_response& response);
  void on(const message& message, const heartbeat_response& response);

  // following.cpp, the follower's side
  void on(const message& message, append_request& request);
  void on(const message& message, const heartbeat& heartbeat);
  void on(const message& message, const commit_notice& notice);
  void reject_append(const message& message, const append_request& request);
  void take_entries(append_request& request);
  void learn_acknowledged_commit(index commit);
  void acknowledge();

  // reading.cpp
  void begin_read_round();
  void finish_read_round();
  void on(const message& message, const read_index_request& request);
  void on(const message& message, const read_index_response& response);

  // transfer.cpp
  void try_transfer();
  void on(const message& message, const timeout_now& now);

  config config_;
  std::uint64_t random_state_;

  role role_ = role::follower;
  node_id leader_;
  bool campaigns_ = true;
  term term_;
  node_id vote_;
  term durable_term_;
  node_id durable_vote_;
  log_view log_;
  index persisted_;
  index commit_;
  index applied_;
  hard_state handed_state_;  // as storage has it once every ready given out is durable
  index handed_commit_;
  pending_writes writes_;

  std::uint32_t ticks_ = 0;  // since the last sign of a leader; of a leader, since it last counted its followers
  std::uint32_t election_timeout_ = 0;
  std::vector<std::pair<node_id, bool>> votes_;  // answers of this election, one for each voter

  std::vector<progress> peers_;  // the other voters
  index own_term_start_;         // the no-op that opened this leader's term
  std::uint32_t heartbeat_ticks_ = 0;
  node_id transfer_target_;
  std::uint32_t transfer_ticks_ = 0;
  std::uint64_t next_request_ = 1;

  index verified_;         // follower: up to here the log agrees with this term's leader
  bool ack_owed_ = false;  // ... which has not yet been told how far it is durable

  read_queue reads_;

  std::vector<message> messages_;
  std::vector<message> held_;  // until the office is durable; at most one of a kind for each peer
  std::vector<read_answer> read_answers_;
  std::vector<node_id> snapshots_wanted_;
};

}  // namespace braidmq::raft

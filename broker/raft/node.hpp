// One member of one Raft group as a pure state machine, in the manner of etcd's raft: events go in (`step`, `tick`,
// `propose`, `persisted`, `applied`), effects come out (`take_ready`). No clock, socket, file or global randomness: the
// same events give the same effects. Single-threaded; the owner is whoever drives the group (multiraft).
//
// Storage is asynchronous: the leader's entries may be sent before they are durable here, and its own vote, for an
// election as for an entry, counts once `persisted` has been told.
//
// This version serves groups of exactly one voter; the interface is that of any number. Calls that break the protocol
// between driver and node (a report of what was never handed out, an apply beyond commit) stop the process.
//
// Source: Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014); Ongaro's thesis (2014), 9.6
// for pre-vote, 10.2.1 for the parallel write.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "raft/types.hpp"

namespace braidmq::raft {

enum class role { follower, candidate, leader };

enum class errc {
  not_leader = 1,          // propose: the command was not taken
  unsupported_membership,  // the configuration names other voters than this version can serve
  contradictory_state,     // what storage remembers cannot be the state of a Raft node
};
std::error_code make_error_code(errc code);

struct config {
  node_id self;
  std::vector<node_id> voters;
  // In ticks. The node draws its timeout from [election_ticks, 2 * election_ticks) with `seed`.
  std::uint32_t election_ticks = 10;
  std::uint32_t heartbeat_ticks = 1;
  std::uint64_t seed = 0;
};

// What storage knew at start.
struct restored {
  hard_state state;
  index last_index;
  term last_term;
  index applied;  // the state machine's own position (a checkpoint's index), 0 for an empty one
};

// Requests and answers between the members of a group.
struct message {
  node_id from;
  node_id to;
  raft::term term;
};

struct ready {
  // To be written in one durable step; then persisted(last entry's index and term) is owed, even when only the hard
  // state is there. A second ready may be taken before that: persists complete in the order in which they were given.
  // A moved commit alone asks for no write: it goes along with the next one.
  std::optional<hard_state> state;
  std::vector<entry> entries;
  // Highest index whose entries state machines may apply. Grows only.
  index commit;
  std::vector<message> messages;                 // to be sent at once
  std::vector<message> messages_when_persisted;  // votes and acknowledgements: only after this ready is durable
};

// True when this ready has something to be written.
inline bool needs_persisting(const ready& r) {
  return r.state.has_value() || !r.entries.empty();
}

class node {
 public:
  static result<node> create(config config, restored restored);

  // Time passes: one tick. Elections and heartbeats come from here and from nowhere else.
  void tick();
  // Starts an election now (a single voter needs no timeout). A leader, and a candidate whose vote is still on its way
  // to disk, go on as they are.
  void campaign();
  // Messages of nodes that are not voters are ignored, whatever their term: with one voter, all of them.
  void step(const message& message);

  // Leader only. The entry's index is its place if this leader keeps its office; nothing is promised before it is
  // applied.
  result<index> propose(bytes payload);

  // Where the log ends as the node sees it, durable or not; what a driver passes to persisted() for a ready that it has
  // just taken.
  index last_index() const { return last_index_; }
  term last_term() const { return last_term_; }

  bool has_ready() const;
  ready take_ready();
  // The oldest ready that needed persisting is durable. `last` and `last_term` name the last entry of the log then.
  void persisted(index last, term last_term);
  void applied(index index);

  role current_role() const { return role_; }
  // None while nobody is known to lead.
  const node_id& leader() const { return leader_; }
  term current_term() const { return term_; }
  index commit_index() const { return commit_; }
  index persisted_index() const { return persisted_; }
  index applied_index() const { return applied_; }
  // True once this leader's state machine has applied an entry of its own term: before that it serves nothing.
  bool serves() const;

 private:
  // What a ready that waits for its persisted() will have made durable.
  struct unpersisted {
    index last;
    raft::term last_term;
    raft::term term;
    node_id vote;
  };

  node(config config, const restored& restored);

  void become_leader();
  void append(entry_kind kind, bytes payload);
  void advance_commit();
  void reset_election_timer();

  config config_;
  std::uint64_t random_state_;

  role role_ = role::follower;
  node_id leader_;
  term term_;
  node_id vote_;
  index last_index_;
  term last_term_;
  index persisted_;
  index commit_;
  index applied_;
  index own_term_start_;  // the no-op that opened this leader's term

  std::vector<entry> unstable_;  // appended, not yet in a ready
  hard_state handed_state_;      // as storage has it once every ready given out is durable
  index handed_commit_;
  std::deque<unpersisted> in_flight_;

  std::uint32_t ticks_ = 0;  // since the last sign of a leader
  std::uint32_t election_timeout_ = 0;
};

}  // namespace braidmq::raft

template <>
struct std::is_error_code_enum<braidmq::raft::errc> : std::true_type {};

// What the members of a group say to each other. Plain values: whoever carries them over a wire encodes and decodes
// them, and bounds what it decodes (entries by the bytes of a frame; everything else is of fixed size). A node believes
// nothing that it can check: unknown senders, terms and indexes beyond max_term and max_index, and entries whose
// indexes or terms do not follow one another are ignored.
//
// Messages may be lost, doubled, delayed and reordered. The streams of a pair of nodes need no order among each other.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::raft {

// A candidate asks for a vote in the message's term. As a pre-vote nothing is promised: it asks for the term after the
// message's, and whether the vote would be given.
struct vote_request {
  bool pre = false;
  bool transfer = false;  // by wish of the leader: the lease that it holds does not count
  index last_index;
  term last_term;
};

struct vote_response {
  bool pre = false;
  bool granted = false;
  term asked;  // the term of the election; the message's own is the voter's
};

// Entries after prev. Without entries: a probe.
struct append_request {
  index prev_index;
  term prev_term;
  index commit;
  std::vector<entry> entries;  // at most config::max_append_bytes, or one
};

// Accepted: the follower's log agrees with the leader's up to `index`, and is durable so far. Rejected: it has no entry
// of the term asked for at `index` (the request's prev_index); every common entry is at or below hint_index and of
// hint_term or an older one, so that one answer skips a whole term of a divergent tail.
struct append_response {
  bool rejected = false;
  raft::index index;
  raft::index hint_index;
  term hint_term;
};

// The leader is there. `commit` never passes what this follower has acknowledged.
struct heartbeat {
  index commit;
  std::uint64_t round = 0;  // of reads; comes back in the answer
};

struct heartbeat_response {
  std::uint64_t round = 0;
};

// Commit moved and there is nothing else to say; no answer.
struct commit_notice {
  index commit;
};

// A follower asks its leader for a read index; the answer carries the same id.
struct read_index_request {
  std::uint64_t id = 0;
};

struct read_index_response {
  std::uint64_t id = 0;
  bool refused = false;
  raft::index index;
};

// The leader wishes the receiver to lead: it campaigns at once.
struct timeout_now {};

struct message {
  node_id from;
  node_id to;
  raft::term term;  // the sender's; of an election, the one that it is about
  std::variant<vote_request, vote_response, append_request, append_response, heartbeat, heartbeat_response,
               commit_notice, read_index_request, read_index_response, timeout_now>
      body;
};

}  // namespace braidmq::raft

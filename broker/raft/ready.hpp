// The effects that a node asks its driver for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "raft/message.hpp"
#include "raft/types.hpp"

namespace braidmq::raft {

// The answer to read_index(context): what is applied up to `index` holds everything that was acknowledged before the
// question. None: lost (the leader changed, or did not answer); nothing is known, the reader may ask again.
struct read_answer {
  std::uint64_t context = 0;
  std::optional<raft::index> index;
};

// Entries [from, to) are no longer in memory; all of them are durable here. To be read from storage: at least one, then
// as many as fit into max_bytes; then node::supply(request, entries), or node::unavailable(request) where storage no
// longer has `from`. A later request for a peer replaces the one before; one that is not answered holds up that peer
// only.
struct entries_request {
  std::uint64_t request = 0;
  node_id peer;
  index from;
  index to;
  std::size_t max_bytes = 0;
};

struct ready {
  // To be written in one durable step; then persisted(last entry's index and term) is owed, even when only the hard
  // state is there. A second ready may be taken before that: persists complete in the order in which they were given.
  // An entry at an index at or below the last one replaces it and all after it, also where that one's write is still
  // under way. A moved commit alone asks for no write: it goes along with the next one.
  std::optional<hard_state> state;
  std::vector<entry> entries;
  // Highest index whose entries state machines may apply: committed, and durable here. Grows only.
  index commit;
  // To be sent at once, beside the write: what must wait for the disk is held back by the node itself.
  std::vector<message> messages;
  std::vector<read_answer> reads;
  std::vector<entries_request> entries_wanted;
  // These peers need entries that nobody can give any more: each a snapshot, then node::snapshot_done.
  std::vector<node_id> snapshots_wanted;
};

// True when this ready has something to be written.
inline bool needs_persisting(const ready& r) {
  return r.state.has_value() || !r.entries.empty();
}

}  // namespace braidmq::raft

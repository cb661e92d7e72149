// What a node is made from: who the group is, how patient the node is, what it may hold, and what storage remembers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "raft/errc.hpp"
#include "raft/types.hpp"

namespace braidmq::raft {

struct config {
  node_id self;
  // All voters, this node among them; at most max_voters.
  std::vector<node_id> voters;
  // In ticks. The node draws its timeout from [election_ticks, 2 * election_ticks) with `seed`. A leader that hears no
  // majority for election_ticks steps down, a follower that hears its leader grants no vote for as long.
  std::uint32_t election_ticks = 10;
  std::uint32_t heartbeat_ticks = 1;
  // Another one for each start: answers that were meant for an earlier life are told apart by it.
  std::uint64_t seed = 0;

  // Entries in one append, in bytes of entry_cost. One entry is sent whatever its size.
  std::size_t max_append_bytes = 1U << 20U;
  // Appends to one follower that are not yet acknowledged. At least one append is always allowed.
  std::size_t max_in_flight_bytes = 8U << 20U;
  std::size_t max_in_flight_appends = 64;
  // Entries that are kept in memory for followers, as long as this holds them. Those that are not yet durable stay in
  // any case, and their proposers bound them. A single voter keeps no durable ones.
  std::size_t keep_bytes = 8U << 20U;
  // Reads that wait for their index: own and other nodes' together.
  std::size_t max_reads = 4096;

  static constexpr std::size_t max_voters = 15;
};

// What storage knew at start.
struct restored {
  hard_state state;
  index last_index;
  term last_term;
  index applied;  // the state machine's own position (a checkpoint's index), 0 for an empty one
  // The terms of the entries that storage can still give, in order; the last run holds last_index. Where the log begins
  // behind a snapshot or checkpoint, the first run begins at the snapshot's own index. With more than one voter they
  // must reach down to the commit that is known here; a single voter may leave them out.
  std::vector<term_run> terms;
};

// Both name what is wrong: errc::unsupported_membership, errc::contradictory_state.
status check(const config& config);
status check(const config& config, const restored& restored);

// An entry's share of every bound in bytes: an empty one is not free.
inline std::size_t entry_cost(const entry& entry) {
  return sizeof(raft::entry) + entry.payload.size();
}

}  // namespace braidmq::raft

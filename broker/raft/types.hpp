// The vocabulary of a Raft group. Pure data: nothing here knows a clock, a socket or a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/strong_id.hpp"
#include "base/uuid.hpp"

namespace braidmq::raft {

using group_id = strong_id<struct group_id_tag, std::uint32_t>;
using term = strong_id<struct term_tag, std::uint64_t>;    // 0: before the first election
using index = strong_id<struct index_tag, std::uint64_t>;  // position in the log; the first entry has 1

// Beyond these no term or index is believed: no group lives so long, and sums of two stay within 64 bits.
inline constexpr term max_term{1ULL << 62U};
inline constexpr index max_index{1ULL << 62U};

// A voter is a broker *in one life*: a data folder that was formatted again is another node, and gets neither votes nor
// acknowledgements under the old one's name.
struct node_id {
  std::int32_t broker = -1;
  uuid incarnation;

  friend auto operator<=>(const node_id&, const node_id&) = default;
  bool is_none() const { return broker < 0; }
};

enum class entry_kind : std::uint8_t {
  noop = 0,     // appended by each new leader
  command = 1,  // for the state machine
};

struct entry {
  raft::term term;
  raft::index index;
  entry_kind kind = entry_kind::command;
  bytes payload;

  friend bool operator==(const entry&, const entry&) = default;
};

// Entries from `first` on, up to the next run's first, are of `term`. A list of them says the term of every entry of a
// log in a few bytes for each leader that it ever had.
struct term_run {
  raft::index first;
  raft::term term;

  friend bool operator==(const term_run&, const term_run&) = default;
};

// What a node must never forget; persisted together with entries, in order.
struct hard_state {
  raft::term term;
  node_id vote;        // none: has not voted in this term
  raft::index commit;  // a hint: may lag behind the truth after a restart, never ahead of it

  friend bool operator==(const hard_state&, const hard_state&) = default;
};

}  // namespace braidmq::raft

// What a node knows of its log: where it ends, the term of every entry (as runs, so a few bytes for each leader), and
// the entries themselves as long as they are new, not durable, or recent. The log is storage's; nothing is read here.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::raft {

class log_view {
 public:
  // A log that ends at `last`, of `last_term`, with terms as restored::terms has them. Nothing is in memory.
  log_view(std::vector<term_run> terms, index last, term last_term);

  index last() const { return last_; }
  term last_term() const { return terms_.back().term; }
  // The lowest index whose term is known: an entry can be sent when the one before it is not below.
  index first_known() const { return terms_.front().first; }
  // None beyond the end and below first_known(). Index 0 of a log that is whole has term 0.
  std::optional<term> term_at(index at) const;
  // The last entry at or below `at` whose term is `limit` or an older one.
  std::optional<index> last_of_term(index at, term limit) const;
  const std::vector<term_run>& terms() const { return terms_; }

  void append(entry entry);
  // Takes away the entries from `from` on, new ones too.
  void truncate(index from);

  // Entries that were appended and not yet taken, oldest first.
  bool has_new() const { return taken_ < last_; }
  std::vector<entry> take_new();

  // last() + 1 when nothing is in memory.
  index first_in_memory() const { return last_ + 1 - static_cast<index::rep>(memory_.size()); }
  // Entries from `from` on, which must be in memory: one, and more as long as they fit into max_bytes.
  std::vector<entry> copy(index from, std::size_t max_bytes) const;
  // Drops the oldest entries, none above `durable`, until what is in memory is at most keep_bytes.
  void release(index durable, std::size_t keep_bytes);
  std::size_t memory_bytes() const { return memory_bytes_; }

  // Storage has forgotten the entries up to `through`: their terms go, that of `through` stays.
  void forget(index through);

 private:
  std::vector<term_run> terms_;  // never empty
  index last_;
  index taken_;
  std::deque<entry> memory_;  // the log's end
  std::size_t memory_bytes_ = 0;
};

}  // namespace braidmq::raft

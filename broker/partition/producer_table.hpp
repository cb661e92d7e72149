// What one partition remembers of the idempotent producers that wrote to it, and the rule that it follows: each batch
// once, in order (KIP-98, KIP-360). Part of the replicated state: a function of the log alone.
//
// Of every producer the last five batches are kept, the most that a client may have in flight: a repetition of one of
// them is answered with the offset that it got the first time. A producer that is not known here may start anywhere
// (its state may have expired). Without a transactional id the epoch belongs to the partition: a newer one starts at
// sequence 0, an older one is refused.
//
// A producer goes when the braid's log says that it has been idle for long, or when there are too many: then those that
// have been idle for longest make room.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/paged_map.hpp"
#include "model/ids.hpp"

namespace braidmq::partition {

// The part of a batch header that the rule needs.
struct batch_identity {
  model::producer_id producer;
  model::producer_epoch epoch;
  model::sequence first;
  model::sequence last;

  bool is_idempotent() const { return producer.value() >= 0; }
};

enum class sequence_verdict {
  append,        // next in order, or nothing is known that speaks against it
  duplicate,     // one of the last batches again
  out_of_order,  // a gap, or a new epoch that does not start at 0
  stale_epoch,   // an epoch below the current one
};

struct sequence_check {
  sequence_verdict verdict;
  model::offset duplicate_base{-1};  // duplicate: where the batch stands
  std::int64_t duplicate_timestamp_ms = -1;
};

struct batch_memory {
  model::sequence first;
  model::sequence last;
  model::offset base;
  std::int64_t timestamp_ms = -1;

  friend bool operator==(const batch_memory&, const batch_memory&) = default;
};

// A row of the state.
struct producer_state {
  static constexpr std::size_t batches_kept = 5;

  model::producer_epoch epoch;
  std::uint32_t count = 0;  // of `batches`, oldest first
  std::array<batch_memory, batches_kept> batches{};
  std::int64_t last_entry_ms = 0;  // time of the entry that brought the newest one

  const batch_memory& newest() const { return batches[count - 1]; }

  friend bool operator==(const producer_state&, const producer_state&) = default;
};

class producer_table {
 public:
  static constexpr std::size_t batches_kept = producer_state::batches_kept;
  // A row has about 150 bytes, a page at most 40 KiB.
  using rows = paged_map<model::producer_id, producer_state, 256>;
  // About 20 MB of memory. A rule of apply: another bound is another apply level.
  static constexpr std::size_t max_producers = 100'000;
  // So many at once make room, so that finding them (a look at all) is rare.
  static constexpr std::size_t evicted_at_once = max_producers / 64;

  sequence_check check(const batch_identity& batch) const;

  // Notes a batch that was appended by an entry of `entry_ms`; returns the row. Requires check(batch) == append and an
  // identity with a producer.
  const producer_state& record(const batch_identity& batch, model::offset base, std::int64_t timestamp_ms,
                               std::int64_t entry_ms);

  // The producers that were idle for longest, the lower id first among equals; at most `count`, by rising id.
  std::vector<model::producer_id> idlest(std::size_t count) const;
  void forget(model::producer_id id) { rows_.erase(id); }

  const producer_state* find(model::producer_id id) const { return rows_.find(id); }
  std::size_t size() const { return rows_.size(); }

  // A copy shares its pages: see paged_map.
  const rows& all() const { return rows_; }
  // From a checkpoint. Requires that the producer is not known yet.
  void restore(model::producer_id id, const producer_state& state);

 private:
  rows rows_;
};

// Checks batches that are to be appended one after another, as if those before had been, without changing the table.
// Owner: lives within one change of the table's owner.
class producer_trial {
 public:
  explicit producer_trial(const producer_table& of) : of_(of) {}

  sequence_verdict check(const batch_identity& batch);

 private:
  const producer_table& of_;
  producer_table ahead_;  // the producers that were met so far
};

// The sequence `count` places after `from`; 2^31-1 is followed by 0.
model::sequence advance_sequence(model::sequence from, std::int32_t count);

}  // namespace braidmq::partition

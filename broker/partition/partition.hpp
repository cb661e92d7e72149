// One partition: a log, its producers and epochs, and how much of it may be seen. It changes by entries of its braid
// only, in their order, and never by time or configuration of this broker.
//
// Threads: the braid's executor. The visible end moves once for each run of whole entries (publish), so that readers
// never see one partition of an entry without another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.hpp"
#include "base/state_hash.hpp"
#include "model/ids.hpp"
#include "partition/epoch_cache.hpp"
#include "partition/producer_table.hpp"
#include "storage/partition_log.hpp"

namespace braidmq::partition {

// A validated batch of a producer, as it came.
struct incoming_batch {
  bytes data;
  batch_identity identity;
  std::int32_t record_count;  // offsets that it takes
  std::int64_t max_timestamp_ms;
};

// The rows of a partition at one moment, as a checkpoint holds them. A copy shares the pages of `producers`.
struct partition_rows {
  std::int32_t epoch_base = 0;
  hash128 bytes_hash;  // of the batches as they are stored, one after the other since offset 0
  producer_table::rows producers;
};

struct append_outcome {
  sequence_verdict verdict;
  model::offset base{-1};  // append, duplicate
  std::int64_t timestamp_ms = -1;
};

class partition {
 public:
  partition(model::topic_partition_id id, std::int32_t epoch_base, std::unique_ptr<storage::partition_log> log);
  // From a checkpoint: `log` was opened by its manifest.
  partition(model::topic_partition_id id, const partition_rows& rows, const storage::epoch_runs& epochs,
            std::unique_ptr<storage::partition_log> log);

  // Checks the producer's sequence, assigns offsets, stamps base offset and leader epoch into the header (which the
  // batch's CRC leaves out) and appends. Nothing changes unless the verdict is `append`.
  append_outcome append(const incoming_batch& batch, std::uint64_t term, std::int64_t entry_ms);

  // Records below `start` are gone; one that is not above the present start changes nothing.
  void move_start(model::offset start);

  // Producers that have been idle since a time or longer; those among `producers` that have not, or are not known, make
  // no difference. Returns how many were forgotten.
  std::size_t forget(std::span<const model::producer_id> producers, std::int64_t idle_since_ms);

  // Everything appended so far may be seen from now on. Returns the bytes that became visible.
  std::size_t publish();
  bool has_unpublished() const { return visible_end_ != end_; }

  partition_rows rows() const { return {epoch_base_, bytes_hash_, producers_.all()}; }
  // Of everything that apply has made of this partition: equal on replicas that have applied the same entries.
  hash128 hash() const;

  const model::topic_partition_id& id() const { return id_; }
  model::offset start_offset() const { return log_->start_offset(); }
  model::offset end_offset() const { return end_; }
  model::offset visible_end() const { return visible_end_; }
  model::leader_epoch epoch_of_term(std::uint64_t term) const;
  const epoch_cache& epochs() const { return epochs_; }
  // OffsetForLeaderEpoch, while `current` is the leader's epoch: never undefined for an epoch up to it. One that wrote
  // nothing ended where the next one began. None for a later epoch, and for one below zero.
  std::optional<epoch_end> find_epoch_end(model::leader_epoch epoch, model::leader_epoch current) const;
  const producer_table& producers() const { return producers_; }
  storage::partition_log& log() { return *log_; }
  const storage::partition_log& log() const { return *log_; }

 private:
  void forget(model::producer_id id, const producer_state& state);
  void note_producer(const incoming_batch& batch, model::offset base, std::int64_t entry_ms);

  model::topic_partition_id id_;
  std::int32_t epoch_base_;  // what a term is added to, so that epochs go on rising when a partition changes its braid
  std::unique_ptr<storage::partition_log> log_;
  producer_table producers_;
  epoch_cache epochs_;
  model::offset end_;
  model::offset visible_end_;
  std::size_t unpublished_bytes_ = 0;
  hash128 bytes_hash_;
  hash128 producers_hash_;  // sum over the rows
};

}  // namespace braidmq::partition

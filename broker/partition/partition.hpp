// One partition: a log, its producers and epochs, and how much of it may be seen. It changes by entries of its braid
// only, in their order, and never by time or configuration of this broker.
//
// Threads: the braid's executor. The visible end moves once for each run of whole entries (publish), so that readers
// never see one partition of an entry without another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.hpp"
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

struct append_outcome {
  sequence_verdict verdict;
  model::offset base{-1};  // append, duplicate
  std::int64_t timestamp_ms = -1;
};

class partition {
 public:
  partition(model::topic_partition_id id, std::int32_t epoch_base, std::unique_ptr<storage::partition_log> log);

  // Checks the producer's sequence, assigns offsets, stamps base offset and leader epoch into the header (which the
  // batch's CRC leaves out) and appends. Nothing changes unless the verdict is `append`.
  append_outcome append(const incoming_batch& batch, std::uint64_t term);

  // Everything appended so far may be seen from now on. Returns the bytes that became visible.
  std::size_t publish();
  bool has_unpublished() const { return visible_end_ != end_; }

  const model::topic_partition_id& id() const { return id_; }
  model::offset start_offset() const { return log_->start_offset(); }
  model::offset end_offset() const { return end_; }
  model::offset visible_end() const { return visible_end_; }
  model::leader_epoch epoch_of_term(std::uint64_t term) const;
  const epoch_cache& epochs() const { return epochs_; }
  const producer_table& producers() const { return producers_; }
  storage::partition_log& log() { return *log_; }
  const storage::partition_log& log() const { return *log_; }

 private:
  model::topic_partition_id id_;
  std::int32_t epoch_base_;  // what a term is added to, so that epochs go on rising when a partition changes its braid
  std::unique_ptr<storage::partition_log> log_;
  producer_table producers_;
  epoch_cache epochs_;
  model::offset end_;
  model::offset visible_end_;
  std::size_t unpublished_bytes_ = 0;
};

}  // namespace braidmq::partition

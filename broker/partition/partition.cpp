#include "partition/partition.hpp"

#include <limits>
#include <utility>

#include "base/check.hpp"
#include "model/record_batch.hpp"

namespace braidmq::partition {

partition::partition(model::topic_partition_id id, std::int32_t epoch_base, std::unique_ptr<storage::partition_log> log)
    : id_(id), epoch_base_(epoch_base), log_(std::move(log)), end_(log_->end_offset()), visible_end_(end_) {}

model::leader_epoch partition::epoch_of_term(std::uint64_t term) const {
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max() - epoch_base_);
  BRAID_CHECK(term <= limit, "term {} does not fit a leader epoch", term);
  return model::leader_epoch(epoch_base_ + static_cast<std::int32_t>(term));
}

append_outcome partition::append(const incoming_batch& batch, std::uint64_t term) {
  const sequence_check check = producers_.check(batch.identity);
  if (check.verdict == sequence_verdict::duplicate) {
    return {check.verdict, check.duplicate_base, check.duplicate_timestamp_ms};
  }
  if (check.verdict != sequence_verdict::append) return {check.verdict};

  const model::offset base = end_;
  const model::leader_epoch epoch = epoch_of_term(term);
  std::vector<std::byte> stamped(batch.data.view().begin(), batch.data.view().end());
  model::stamp_batch(stamped, base, epoch);
  end_ = base + batch.record_count;
  unpublished_bytes_ += stamped.size();
  epochs_.record(epoch, base);
  producers_.record(batch.identity, base, batch.max_timestamp_ms);
  log_->append({bytes::take(std::move(stamped)), base, end_ - 1, batch.max_timestamp_ms});
  return {sequence_verdict::append, base, batch.max_timestamp_ms};
}

std::size_t partition::publish() {
  visible_end_ = end_;
  return std::exchange(unpublished_bytes_, 0);
}

}  // namespace braidmq::partition

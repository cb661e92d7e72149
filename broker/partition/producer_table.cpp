#include "partition/producer_table.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace braidmq::partition {

model::sequence advance_sequence(model::sequence from, std::int32_t count) {
  constexpr std::int64_t modulus = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  return model::sequence(static_cast<std::int32_t>((from.value() + std::int64_t{count}) % modulus));
}

sequence_check producer_table::check(const batch_identity& batch) const {
  if (!batch.is_idempotent()) return {sequence_verdict::append};
  const auto found = producers_.find(batch.producer);
  if (found == producers_.end()) return {sequence_verdict::append};
  const producer& known = found->second;
  if (batch.epoch < known.epoch) return {sequence_verdict::stale_epoch};
  if (batch.epoch > known.epoch) {
    return {batch.first.value() == 0 ? sequence_verdict::append : sequence_verdict::out_of_order};
  }
  const std::size_t kept = std::min<std::size_t>(known.count, batches_kept);
  for (std::size_t i = 0; i < kept; ++i) {
    const batch_memory& earlier = known.batches[i];
    if (earlier.first == batch.first && earlier.last == batch.last) {
      return {sequence_verdict::duplicate, earlier.base, earlier.timestamp_ms};
    }
  }
  const bool in_order = batch.first == advance_sequence(known.newest().last, 1);
  return {in_order ? sequence_verdict::append : sequence_verdict::out_of_order};
}

void producer_table::record(const batch_identity& batch, model::offset base, std::int64_t timestamp_ms) {
  if (!batch.is_idempotent()) return;
  producer& known = producers_[batch.producer];
  if (known.count == 0 || batch.epoch > known.epoch) {
    known = producer{};
    known.epoch = batch.epoch;
  }
  BRAID_CHECK(batch.epoch == known.epoch, "producer {} epoch {} below {}", batch.producer, batch.epoch, known.epoch);
  known.batches[known.count % batches_kept] = {batch.first, batch.last, base, timestamp_ms};
  ++known.count;
}

sequence_verdict producer_trial::check(const batch_identity& batch) {
  if (!batch.is_idempotent()) return sequence_verdict::append;
  if (!ahead_.producers_.contains(batch.producer)) {
    const auto known = of_.producers_.find(batch.producer);
    if (known != of_.producers_.end()) ahead_.producers_.insert(*known);
  }
  const sequence_verdict verdict = ahead_.check(batch).verdict;
  if (verdict == sequence_verdict::append) ahead_.record(batch, model::offset(-1), -1);
  return verdict;
}

}  // namespace braidmq::partition

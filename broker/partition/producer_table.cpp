#include "partition/producer_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace braidmq::partition {

model::sequence advance_sequence(model::sequence from, std::int32_t count) {
  constexpr std::int64_t modulus = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  return model::sequence(static_cast<std::int32_t>((from.value() + std::int64_t{count}) % modulus));
}

sequence_check producer_table::check(const batch_identity& batch) const {
  if (!batch.is_idempotent()) return {sequence_verdict::append};
  const producer_state* known = rows_.find(batch.producer);
  if (known == nullptr) return {sequence_verdict::append};
  if (batch.epoch < known->epoch) return {sequence_verdict::stale_epoch};
  if (batch.epoch > known->epoch) {
    return {batch.first.value() == 0 ? sequence_verdict::append : sequence_verdict::out_of_order};
  }
  for (std::size_t i = 0; i < known->count; ++i) {
    const batch_memory& earlier = known->batches[i];
    if (earlier.first == batch.first && earlier.last == batch.last) {
      return {sequence_verdict::duplicate, earlier.base, earlier.timestamp_ms};
    }
  }
  const bool in_order = batch.first == advance_sequence(known->newest().last, 1);
  return {in_order ? sequence_verdict::append : sequence_verdict::out_of_order};
}

const producer_state& producer_table::record(const batch_identity& batch, model::offset base, std::int64_t timestamp_ms,
                                             std::int64_t entry_ms) {
  BRAID_CHECK(batch.is_idempotent());
  producer_state& known = rows_.edit(batch.producer);
  if (known.count == 0 || batch.epoch > known.epoch) {
    known = producer_state{};
    known.epoch = batch.epoch;
  }
  BRAID_CHECK(batch.epoch == known.epoch, "producer {} epoch {} below {}", batch.producer, batch.epoch, known.epoch);
  if (known.count == batches_kept) {
    std::shift_left(known.batches.begin(), known.batches.end(), 1);
    --known.count;
  }
  known.batches[known.count++] = {batch.first, batch.last, base, timestamp_ms};
  known.last_entry_ms = entry_ms;
  return known;
}

std::vector<model::producer_id> producer_table::idlest(std::size_t count) const {
  std::vector<std::pair<std::int64_t, model::producer_id>> all;
  all.reserve(rows_.size());
  rows_.for_each(
      [&all](model::producer_id id, const producer_state& state) { all.emplace_back(state.last_entry_ms, id); });
  count = std::min(count, all.size());
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  std::vector<model::producer_id> found;
  found.reserve(count);
  for (std::size_t i = 0; i < count; ++i) found.push_back(all[i].second);
  std::ranges::sort(found);
  return found;
}

void producer_table::restore(model::producer_id id, const producer_state& state) {
  BRAID_CHECK(state.count > 0 && state.count <= batches_kept && rows_.find(id) == nullptr, "producer {}", id);
  rows_.edit(id) = state;
}

sequence_verdict producer_trial::check(const batch_identity& batch) {
  if (!batch.is_idempotent()) return sequence_verdict::append;
  if (ahead_.find(batch.producer) == nullptr) {
    if (const producer_state* known = of_.find(batch.producer)) ahead_.restore(batch.producer, *known);
  }
  const sequence_verdict verdict = ahead_.check(batch).verdict;
  if (verdict == sequence_verdict::append) ahead_.record(batch, model::offset(-1), -1, 0);
  return verdict;
}

}  // namespace braidmq::partition

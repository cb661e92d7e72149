#include "partition/partition.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "model/record_batch.hpp"

namespace braidmq::partition {
namespace {

constexpr std::uint8_t partition_row = 1;
constexpr std::uint8_t producer_row = 2;

void append_key(byte_buffer& to, std::uint8_t kind, const model::topic_partition_id& id) {
  to.append_be(kind);
  to.append(byte_view(reinterpret_cast<const std::byte*>(id.topic.octets.data()), id.topic.octets.size()));
  to.append_be(id.partition.value());
}

hash128 hash_of(const model::topic_partition_id& id, model::producer_id producer, const producer_state& state) {
  byte_buffer row(192);
  append_key(row, producer_row, id);
  row.append_be(producer.value());
  row.append_be(state.epoch.value());
  row.append_be(state.last_entry_ms);
  for (std::uint32_t i = 0; i < state.count; ++i) {
    const batch_memory& batch = state.batches[i];
    row.append_be(batch.first.value());
    row.append_be(batch.last.value());
    row.append_be(batch.base.value());
    row.append_be(batch.timestamp_ms);
  }
  return braidmq::hash_of(row.view());
}

}  // namespace

partition::partition(model::topic_partition_id id, std::int32_t epoch_base, std::unique_ptr<storage::partition_log> log)
    : id_(id), epoch_base_(epoch_base), log_(std::move(log)), end_(log_->end_offset()), visible_end_(end_) {}

partition::partition(model::topic_partition_id id, const partition_rows& rows, const storage::epoch_runs& epochs,
                     std::unique_ptr<storage::partition_log> log)
    : partition(id, rows.epoch_base, std::move(log)) {
  bytes_hash_ = rows.bytes_hash;
  epochs_.restore(epochs);
  rows.producers.for_each([this](model::producer_id producer, const producer_state& state) {
    producers_.restore(producer, state);
    producers_hash_ += hash_of(id_, producer, state);
  });
}

hash128 partition::hash() const {
  byte_buffer row(96);
  append_key(row, partition_row, id_);
  row.append_be(epoch_base_);
  row.append_be(start_offset().value());
  row.append_be(end_.value());
  row.append_be(bytes_hash_.high);
  row.append_be(bytes_hash_.low);
  hash128 sum = braidmq::hash_of(row.view());
  sum += producers_hash_;
  return sum;
}

std::optional<epoch_end> partition::find_epoch_end(model::leader_epoch epoch, model::leader_epoch current) const {
  if (epoch < model::leader_epoch(0) || epoch > current) return std::nullopt;
  if (epoch == current) return epoch_end{current, visible_end_};
  if (const auto found = epochs_.end_of(epoch, visible_end_)) return found;
  // All that is there was written later.
  return epoch_end{epoch, std::max(start_offset(), epochs_.first_start().value_or(visible_end_))};
}

model::leader_epoch partition::epoch_of_term(std::uint64_t term) const {
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max() - epoch_base_);
  BRAID_CHECK(term <= limit, "term {} does not fit a leader epoch", term);
  return model::leader_epoch(epoch_base_ + static_cast<std::int32_t>(term));
}

append_outcome partition::append(const incoming_batch& batch, std::uint64_t term, std::int64_t entry_ms) {
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
  bytes_hash_ = hash_chain(bytes_hash_, stamped);
  if (batch.identity.is_idempotent()) note_producer(batch, base, entry_ms);
  log_->append({bytes::take(std::move(stamped)), base, end_ - 1, batch.max_timestamp_ms});
  return {sequence_verdict::append, base, batch.max_timestamp_ms};
}

void partition::note_producer(const incoming_batch& batch, model::offset base, std::int64_t entry_ms) {
  const model::producer_id id = batch.identity.producer;
  if (const producer_state* before = producers_.find(id)) {
    producers_hash_ -= hash_of(id_, id, *before);
  } else if (producers_.size() >= producer_table::max_producers) {
    for (const model::producer_id idle : producers_.idlest(producer_table::evicted_at_once)) {
      forget(idle, *producers_.find(idle));
    }
  }
  producers_hash_ += hash_of(id_, id, producers_.record(batch.identity, base, batch.max_timestamp_ms, entry_ms));
}

void partition::forget(model::producer_id id, const producer_state& state) {
  producers_hash_ -= hash_of(id_, id, state);
  producers_.forget(id);
}

std::size_t partition::forget(std::span<const model::producer_id> producers, std::int64_t idle_since_ms) {
  const std::size_t before = producers_.size();
  for (const model::producer_id id : producers) {
    const producer_state* known = producers_.find(id);
    if (known != nullptr && known->last_entry_ms <= idle_since_ms) forget(id, *known);
  }
  return before - producers_.size();
}

void partition::move_start(model::offset start) {
  start = std::min(start, end_);
  if (start > start_offset()) log_->trim(start);
}

std::size_t partition::publish() {
  visible_end_ = end_;
  return std::exchange(unpublished_bytes_, 0);
}

}  // namespace braidmq::partition

#include "braid/machine.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "model/record_batch.hpp"
#include "multiraft/group.hpp"

namespace braidmq::braid {
namespace {

std::error_code error_of(partition::sequence_verdict verdict) {
  switch (verdict) {
    case partition::sequence_verdict::append:
    case partition::sequence_verdict::duplicate:
      return {};
    case partition::sequence_verdict::out_of_order:
      return errc::out_of_order_sequence;
    case partition::sequence_verdict::stale_epoch:
      return errc::stale_producer_epoch;
  }
  BRAID_CHECK(false, "verdict {}", static_cast<int>(verdict));
}

constexpr std::uint8_t machine_row = 3;
constexpr std::uint8_t topic_row = 4;

hash128 hash_of(const model::topic_id& id, const topic_state& state) {
  byte_buffer row(64);
  row.append_be(topic_row);
  row.append(byte_view(reinterpret_cast<const std::byte*>(id.octets.data()), id.octets.size()));
  row.append_be(state.config_index);
  for (const auto& [name, value] : state.configs) {
    row.append_be(static_cast<std::uint32_t>(name.size()));
    row.append(name);
    row.append_be(static_cast<std::uint32_t>(value.size()));
    row.append(value);
  }
  return braidmq::hash_of(row.view());
}

partition::incoming_batch incoming(const bytes& batch) {
  const auto header = model::parse_batch_header(batch);
  // Validated before it was proposed, and the WAL's checksum has vouched for the bytes since.
  BRAID_CHECK(header.has_value(), "entry holds a batch that is none: {}", header.error().to_string());
  const model::sequence last = header->has_producer() ? header->last_sequence() : header->base_sequence;
  return {batch,
          {header->producer_id, header->producer_epoch, header->base_sequence, last},
          header->last_offset_delta + 1,
          header->max_timestamp_ms};
}

}  // namespace

std::string machine::too_new(std::string_view what, raft::index at, std::int16_t level) const {
  return fmt::format(
      "{} {} of the braid has apply level {}, this version knows {}: start the later version again; "
      "nothing was changed",
      what, at, level, newest_level_);
}

// What an entry cannot be read for is its version, then: the WAL's checksums vouch for its bytes.
result<std::vector<unit_outcome>> machine::apply(const raft::entry& entry) {
  BRAID_CHECK(entry.index == applied_ + 1, "entry {} after {}", entry.index, applied_);
  if (entry.kind == raft::entry_kind::noop) {
    applied_ = entry.index;
    return std::vector<unit_outcome>();
  }
  auto command = decode(entry.payload);
  if (!command) {
    return fail(errc::later_version, fmt::format("entry {} of the braid cannot be read ({}): start the later version "
                                                 "again; nothing was changed",
                                                 entry.index, command.error().to_string()));
  }
  if (command->apply_level > newest_level_)
    return fail(errc::later_version, too_new("entry", entry.index, command->apply_level));
  applied_ = entry.index;
  level_ = std::max(level_, command->apply_level);
  BRAID_CHECK(command->leader_time_ms >= last_entry_time_ms_, "time of entry {} falls", entry.index);
  last_entry_time_ms_ = command->leader_time_ms;

  for (const partition_creation& creation : command->creations) create(creation);
  for (topic_config& config : command->configs) configure(std::move(config));
  for (const topic_deletion& deletion : command->deletions) remove(deletion);
  for (const log_start_move& move : command->log_starts) {
    if (partition::partition* target = find(move.target)) target->move_start(move.start);
  }
  for (const producer_expiry& expiry : command->expiries) expire(expiry);
  std::vector<unit_outcome> outcomes;
  outcomes.reserve(command->units.size());
  for (const produce_unit& unit : command->units) outcomes.push_back(append(unit, entry.term));
  return outcomes;
}

void machine::create(const partition_creation& creation) {
  if (partitions_.contains(creation.target)) return;
  const bool topic_is_new = topics_.find(creation.target.topic) == nullptr;
  if (topic_is_new && creation.metadata_index < last_deletion_index_) return;
  if (topic_is_new) set_topic(creation.target.topic, {});
  const auto made = partitions_.emplace(
      creation.target,
      std::make_unique<partition::partition>(creation.target, creation.epoch_base, logs_.make(creation.target)));
  configure_log(creation.target, *made.first->second);
}

void machine::configure(topic_config config) {
  const topic_state* known = topics_.find(config.topic);
  if (known == nullptr || known->config_index >= config.metadata_index) return;
  set_topic(config.topic, {config.metadata_index, std::move(config.values)});
  auto next = partitions_.lower_bound({config.topic, model::partition_index(0)});
  for (; next != partitions_.end() && next->first.topic == config.topic; ++next) {
    configure_log(next->first, *next->second);
  }
}

void machine::configure_log(const model::topic_partition_id& id, partition::partition& of) {
  if (const topic_state* topic = topics_.find(id.topic)) logs_.configure(of.log(), topic->configs);
}

void machine::remove(const topic_deletion& deletion) {
  last_deletion_index_ = std::max(last_deletion_index_, deletion.metadata_index);
  if (const topic_state* known = topics_.find(deletion.topic)) {
    topics_hash_ -= hash_of(deletion.topic, *known);
    topics_.erase(deletion.topic);
  }
  const auto first = partitions_.lower_bound({deletion.topic, model::partition_index(0)});
  auto end = first;
  for (; end != partitions_.end() && end->first.topic == deletion.topic; ++end) {
    std::erase(dirty_, end->second.get());
    producer_count_ -= end->second->producers().size();
    deleted_.push_back(std::move(end->second));
  }
  partitions_.erase(first, end);
}

void machine::expire(const producer_expiry& expiry) {
  partition::partition* target = find(expiry.target);
  if (target == nullptr) return;
  const std::size_t forgotten = target->forget(expiry.producers, expiry.idle_since_ms);
  producer_count_ -= forgotten;
  producers_expired_ += forgotten;
}

// The atomic part is checked to its end before anything of it is appended: refused, it has changed nothing.
unit_outcome machine::append(const produce_unit& unit, raft::term term) {
  const std::span<const append_slice> slices = unit.slices;
  const std::vector<std::error_code> verdicts = check_together(slices.first(unit.atomic_slices));
  const bool refused = std::ranges::any_of(verdicts, [](const std::error_code& one) { return one.value() != 0; });
  unit_outcome outcome;
  outcome.slices.reserve(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const bool is_atomic = i < verdicts.size();
    if (is_atomic && refused) {
      outcome.slices.push_back({.error = verdicts[i] ? verdicts[i] : make_error_code(errc::not_attempted)});
      continue;
    }
    outcome.slices.push_back(append(slices[i], term));
    BRAID_CHECK(!is_atomic || !outcome.slices.back().error, "slice {} of an atomic write: {}", i,
                outcome.slices.back().error.message());
  }
  return outcome;
}

// What append() would say of each, one after another; a duplicate is no error.
std::vector<std::error_code> machine::check_together(std::span<const append_slice> slices) const {
  std::vector<std::error_code> verdicts;
  verdicts.reserve(slices.size());
  std::map<model::topic_partition_id, partition::producer_trial> trials;
  for (const append_slice& slice : slices) {
    const auto target = partitions_.find(slice.target);
    if (target == partitions_.end()) {
      verdicts.emplace_back(errc::unknown_partition);
      continue;
    }
    partition::producer_trial& trial = trials.try_emplace(slice.target, target->second->producers()).first->second;
    verdicts.push_back(error_of(trial.check(incoming(slice.batch).identity)));
  }
  return verdicts;
}

slice_outcome machine::append(const append_slice& slice, raft::term term) {
  partition::partition* target = find(slice.target);
  if (target == nullptr) return {.error = errc::unknown_partition};
  const bool was_clean = !target->has_unpublished();
  const std::size_t producers_before = target->producers().size();
  const partition::append_outcome outcome = target->append(incoming(slice.batch), term.value(), last_entry_time_ms_);
  const std::size_t producers_now = target->producers().size();
  if (producers_now < producers_before) producers_evicted_ += producers_before + 1 - producers_now;
  producer_count_ += producers_now;
  producer_count_ -= producers_before;
  slice_outcome answer;
  answer.error = error_of(outcome.verdict);
  answer.duplicate = outcome.verdict == partition::sequence_verdict::duplicate;
  answer.base = outcome.base;
  answer.append_time_ms = outcome.timestamp_ms;
  answer.log_start = target->start_offset();
  if (was_clean && target->has_unpublished()) dirty_.push_back(target);
  return answer;
}

std::vector<published> machine::publish() {
  std::vector<published> grown;
  grown.reserve(dirty_.size());
  for (partition::partition* target : std::exchange(dirty_, {})) grown.push_back({target, target->publish()});
  visible_ = applied_;
  return grown;
}

partition::partition* machine::find(const model::topic_partition_id& id) {
  const auto found = partitions_.find(id);
  return found == partitions_.end() ? nullptr : found->second.get();
}

const partition::partition* machine::find(const model::topic_partition_id& id) const {
  const auto found = partitions_.find(id);
  return found == partitions_.end() ? nullptr : found->second.get();
}

const topic_state* machine::find_topic(const model::topic_id& id) const {
  return topics_.find(id);
}

void machine::set_topic(const model::topic_id& id, topic_state state) {
  if (const topic_state* before = topics_.find(id)) topics_hash_ -= hash_of(id, *before);
  topics_hash_ += hash_of(id, state);
  topics_.edit(id) = std::move(state);
}

// ---- checkpoints ----

hash128 machine::hash() const {
  byte_buffer row(32);
  row.append_be(machine_row);
  row.append_be(applied_.value());
  row.append_be(last_entry_time_ms_);
  row.append_be(last_deletion_index_);
  row.append_be(level_);
  hash128 sum = braidmq::hash_of(row.view());
  sum += topics_hash_;
  for (const auto& [id, one] : partitions_) sum += one->hash();
  return sum;
}

machine_state machine::pin() {
  machine_state now{applied_, last_entry_time_ms_, last_deletion_index_, level_, hash(), topics_, {}};
  now.partitions.reserve(partitions_.size());
  for (const auto& [id, one] : partitions_) now.partitions.push_back({id, one->rows(), one->log().pin()});
  return now;
}

status machine::restore(
    machine_state from,
    const std::function<result<std::unique_ptr<storage::partition_log>>(const pinned_partition& partition)>& open) {
  BRAID_CHECK(applied_ == raft::index(0) && partitions_.empty());
  if (from.level > newest_level_) return fail(errc::later_version, too_new("state", from.applied, from.level));
  applied_ = visible_ = from.applied;
  last_entry_time_ms_ = from.last_entry_time_ms;
  last_deletion_index_ = from.last_deletion_index;
  level_ = from.level;
  topics_ = std::move(from.topics);
  topics_.for_each([this](const model::topic_id& id, const topic_state& state) { topics_hash_ += hash_of(id, state); });
  for (const pinned_partition& one : from.partitions) {
    BRAID_TRY(log, open(one));
    const auto made = partitions_.emplace(
        one.id, std::make_unique<partition::partition>(one.id, one.rows, one.log.manifest.epochs, std::move(log)));
    producer_count_ += one.rows.producers.size();
    configure_log(one.id, *made.first->second);
  }
  if (hash() == from.hash) return {};
  return fail(multiraft::errc::checkpoint_damaged,
              fmt::format("its rows have the hash {}, and it says {}", hash().to_string(), from.hash.to_string()));
}

}  // namespace braidmq::braid

#include "history.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <xxhash.h>

#include "model/compression.hpp"
#include "model/record.hpp"
#include "model/record_batch.hpp"

namespace braidmq::sim {
namespace {

constexpr std::size_t largest_decoded_bytes = 32U << 20U;

result<seen_batch_ptr> parse(const model::batch_view& batch, std::uint64_t hash) {
  auto seen = std::make_shared<seen_batch>();
  const model::batch_header& header = batch.header;
  seen->hash = hash;
  seen->size_bytes = batch.data.size();
  seen->base = header.base_offset.value();
  seen->epoch = header.partition_leader_epoch.value();
  seen->producer_id = header.producer_id.value();
  seen->sequence = header.base_sequence.value();
  if (!model::batch_crc_matches(batch.data)) return fail(std::make_error_code(std::errc::bad_message), "wrong CRC");
  const auto codec = header.codec();
  if (!codec) return fail(std::make_error_code(std::errc::bad_message), "unknown codec");
  BRAID_TRY(decoded, model::decompress(*codec, batch.records(), largest_decoded_bytes));
  model::record_reader reader(decoded, header.record_count);
  for (std::int32_t place = 0;; ++place) {
    BRAID_TRY(record, reader.next());
    if (!record) break;
    const auto name = record->value ? parse_value(*record->value) : std::nullopt;
    if (!name || record->offset_delta != place) {
      return fail(std::make_error_code(std::errc::bad_message), "a record that nobody wrote");
    }
    const bool stamped = header.timestamps() == model::timestamp_type::log_append_time;
    seen->records.push_back(
        {*name, stamped ? header.max_timestamp_ms : header.base_timestamp_ms + record->timestamp_delta});
  }
  if (header.last_offset_delta + 1 != static_cast<std::int32_t>(seen->records.size())) {
    return fail(std::make_error_code(std::errc::bad_message), "last_offset_delta does not fit the records");
  }
  return seen_batch_ptr(std::move(seen));
}

}  // namespace

const attempt* sent_batch::acknowledged() const {
  const auto found = std::ranges::find_if(
      attempts, [](const attempt& one) { return one.answered != 0 && one.code == protocol::error_code::none; });
  return found == attempts.end() ? nullptr : &*found;
}

bool sent_batch::surely_refused() const {
  return !attempts.empty() && std::ranges::all_of(attempts, [](const attempt& one) {
    return one.answered != 0 && says_not_written(one.code);
  });
}

void history::see_wall(std::int64_t lowest_ms, std::int64_t highest_ms) {
  if (lowest_ms < wall_ms_) wall_falls_.emplace_back(now_, lowest_ms);
  wall_ms_ = lowest_ms;
  latest_wall_ms_ = std::max(latest_wall_ms_, highest_ms);
}

std::int64_t history::written_from_ms(const sent_batch& batch) const {
  const attempt& first = batch.attempts.front();
  const attempt* acknowledged = batch.acknowledged();
  std::int64_t from_ms = first.asked_wall_ms;
  for (const auto& [at, to_ms] : wall_falls_) {
    const bool is_between = at >= first.asked && (acknowledged == nullptr || at <= acknowledged->answered);
    if (is_between) from_ms = std::min(from_ms, to_ms);
  }
  return from_ms;
}

std::int64_t history::tried_until_ms(const sent_batch& batch) const {
  std::int64_t until_ms = 0;
  for (const attempt& one : batch.attempts) {
    until_ms = std::max(until_ms, one.answered == 0 ? latest_wall_ms_ : one.answered_by_wall_ms);
  }
  return until_ms;
}

batch_number history::add_batch(sent_batch batch) {
  batches_.push_back(std::move(batch));
  return static_cast<batch_number>(batches_.size() - 1);
}

void history::acknowledge(batch_number number, std::size_t attempt_index, protocol::error_code code,
                          std::int64_t base) {
  sent_batch& of = batches_[number];
  attempt& one = of.attempts[attempt_index];
  one.answered = next_moment();
  one.answered_by_wall_ms = latest_wall_ms_;
  one.code = code;
  one.base = base;
  see_code(code);
  if (code != protocol::error_code::none) return;
  ++acknowledgements_;
  raise_end(one.connection, of.target, base + of.records);
}

void history::add(fetch_record fetch) {
  fetch.answered = next_moment();
  for (const fetched_partition& one : fetch.partitions) {
    see_code(one.code);
    if (one.code != protocol::error_code::none) continue;
    raise_end(fetch.connection, one.target, one.visible_end);
    raise_start(fetch.connection, one.target, one.log_start);
  }
  fetches_.push_back(std::move(fetch));
}

void history::add(const offset_record& answer) {
  constexpr std::int64_t earliest = -2;
  constexpr std::int64_t latest = -1;
  see_code(answer.code);
  if (answer.code == protocol::error_code::none) {
    if (answer.timestamp == earliest)
      raise_start(answer.connection, answer.target, answer.offset);
    else
      raise_end(answer.connection, answer.target, answer.timestamp == latest ? answer.offset : answer.offset + 1);
  }
  offset_answers_.push_back(answer);
}

void history::acknowledge_topic(const topic_record& topic) {
  const auto [at, added] = topics_.emplace(topic.name, topic);
  if (!added && at->second.id != topic.id) {
    violation("topics", fmt::format("topic {} was acknowledged with two ids", topic.name));
  }
}

bool churns(std::string_view name) {
  return name.starts_with("churn");
}

void history::note_churned(const topic_record& topic) {
  const auto [at, added] = churned_.try_emplace(topic.id);
  churned_topic& known = at->second;
  if (added) {
    known = {topic.name, topic.id, next_moment(), 0, 0, 0};
    if (open_deletions_[topic.name] > 0) known.delete_asked = known.made;
  } else if (known.name != topic.name) {
    violation("topics", fmt::format("{} and {} were told to have one id", known.name, topic.name));
  }
  known.partitions = std::max(known.partitions, topic.partitions);
}

void history::ask_partitions(const std::string& name, std::int32_t partitions) {
  std::int32_t& most = partitions_asked_[name];
  most = std::max(most, partitions);
}

void history::ask_deletion(const model::topic_id& id) {
  churned_topic& known = churned_.at(id);
  if (known.delete_asked == 0) known.delete_asked = next_moment();
}

void history::ask_deletion(const std::string& name) {
  ++open_deletions_[name];
  for (auto& [id, known] : churned_) {
    if (known.name == name && known.delete_asked == 0) known.delete_asked = next_moment();
  }
}

void history::answer_deletion(const std::string& name) {
  --open_deletions_[name];
}

void history::acknowledge_deletion(const model::topic_id& id) {
  churned_topic& known = churned_.at(id);
  if (known.delete_acknowledged == 0) known.delete_acknowledged = next_moment();
}

const churned_topic* history::churned(const model::topic_id& id) const {
  const auto found = churned_.find(id);
  return found == churned_.end() ? nullptr : &found->second;
}

std::int32_t history::most_partitions(const std::string& name) const {
  const auto found = partitions_asked_.find(name);
  return found == partitions_asked_.end() ? 0 : found->second;
}

bool history::may_be_deleted(const model::topic_id& id) const {
  const churned_topic* known = churned(id);
  return known != nullptr && known->delete_asked != 0;
}

void history::note_producer_id(std::int64_t id) {
  if (!producer_ids_.insert(id).second) violation("producers", fmt::format("producer id {} was given twice", id));
}

namespace {

std::int64_t value_of(const std::map<topic_partition_id, std::int64_t>& all, const topic_partition_id& target) {
  const auto found = all.find(target);
  return found == all.end() ? 0 : found->second;
}

void raise(std::map<topic_partition_id, std::int64_t>& all, const topic_partition_id& target, std::int64_t to) {
  std::int64_t& known = all[target];
  known = std::max(known, to);
}

}  // namespace

void history::note_connection(std::uint64_t connection, std::size_t broker, std::uint64_t life) {
  if (brokers_ > 1) servers_[connection] = {broker, life};
}

// E1, as clients hear it.
void history::note_leader(std::int32_t broker, std::int32_t epoch) {
  if (broker < 0 || brokers_ == 1) return;
  const auto [at, first] = leaders_.try_emplace(epoch, broker);
  if (at->second != broker) {
    violation("election", fmt::format("brokers {} and {} were said to lead in epoch {}", at->second, broker, epoch));
  }
  if (epoch >= leaders_.rbegin()->first) leader_ = static_cast<std::size_t>(broker);
}

void history::see_code(protocol::error_code code) {
  if (code == protocol::error_code::not_leader_or_follower && brokers_ > 1) ++refusals_for_leader_;
}

history::broker_life history::server_of(std::uint64_t connection) const {
  const auto found = servers_.find(connection);
  return found == servers_.end() ? broker_life() : found->second;
}

known_term history::term_at(std::uint64_t connection) const {
  const auto [broker, life] = server_of(connection);
  return terms_(broker, life);
}

std::int64_t history::known_end(const topic_partition_id& target) const {
  return value_of(known_.ends, target);
}

std::int64_t history::known_start(const topic_partition_id& target) const {
  return value_of(known_.starts, target);
}

std::int64_t history::known_end_at(std::uint64_t connection, const topic_partition_id& target) const {
  if (brokers_ == 1) return known_end(target);
  const auto shown = shown_.find(server_of(connection));
  std::int64_t end = shown == shown_.end() ? 0 : value_of(shown->second.ends, target);
  const auto by_term = ends_by_term_.find(target);
  if (by_term == ends_by_term_.end()) return end;
  const raft::term own = term_at(connection).lowest;
  for (const auto& [term, told] : by_term->second) {
    if (term < own) end = std::max(end, told);
  }
  return end;
}

std::int64_t history::known_start_at(std::uint64_t connection, const topic_partition_id& target) const {
  if (brokers_ == 1) return known_start(target);
  const auto shown = shown_.find(server_of(connection));
  return shown == shown_.end() ? 0 : value_of(shown->second.starts, target);
}

void history::raise_start(std::uint64_t connection, const topic_partition_id& target, std::int64_t start) {
  raise(known_.starts, target, start);
  if (brokers_ > 1) raise(shown_[server_of(connection)].starts, target, start);
}

void history::raise_end(std::uint64_t connection, const topic_partition_id& target, std::int64_t end) {
  raise(known_.ends, target, end);
  if (brokers_ == 1) return;
  raise(shown_[server_of(connection)].ends, target, end);
  std::int64_t& told = ends_by_term_[target][term_at(connection).highest];
  told = std::max(told, end);
}

std::optional<std::vector<seen_batch_ptr>> history::read_batches(const bytes& block) {
  std::vector<seen_batch_ptr> batches;
  model::batch_reader reader(block);
  for (;;) {
    const auto next = reader.next();
    if (!next) {
      violation("content", "a fetch returned bytes that are no batch: " + next.error().to_string());
      return std::nullopt;
    }
    if (!*next) return batches;
    const byte_view data = (*next)->data;
    const std::uint64_t hash = XXH3_64bits(data.data(), data.size());
    seen_batch_ptr& shared = seen_[hash];
    if (!shared) {
      auto parsed = parse(**next, hash);
      if (!parsed) {
        violation("content",
                  fmt::format("batch at offset {}: {}", (*next)->header.base_offset, parsed.error().to_string()));
        return std::nullopt;
      }
      shared = std::move(*parsed);
    }
    batches.push_back(shared);
  }
}

std::string make_value(const record_name& name, std::size_t size_bytes) {
  std::string value = fmt::format("{:08x}-{:08x}", name.batch, name.place);
  // Filling that is neither constant nor chance, so that codecs have something to do.
  while (value.size() < size_bytes) value += static_cast<char>('a' + (value.size() * (name.batch + 7)) % 23);
  return value;
}

std::optional<record_name> parse_value(byte_view value) {
  const std::string_view text = as_string_view(value);
  record_name name;
  if (text.size() < 17 || text[8] != '-') return std::nullopt;
  const auto batch = std::from_chars(text.data(), text.data() + 8, name.batch, 16);
  const auto place = std::from_chars(text.data() + 9, text.data() + 17, name.place, 16);
  if (batch.ptr != text.data() + 8 || place.ptr != text.data() + 17) return std::nullopt;
  return name;
}

bool says_not_written(protocol::error_code code) {
  using enum protocol::error_code;
  switch (code) {
    case none:
    case unknown_server_error:
    case not_leader_or_follower:
    case request_timed_out:
    case kafka_storage_error:
    case not_enough_replicas_after_append:
      return false;  // written, or perhaps
    default:
      return true;
  }
}

}  // namespace braidmq::sim

#include "braid/entry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "protocol/generated/braid_entry.hpp"

namespace braidmq::braid {
namespace {

// Two bytes of version stand before the record, so that a later version can read this one.
constexpr std::size_t version_bytes = sizeof(std::int16_t);

constexpr std::array<std::int16_t, newest_apply_level + 1> versions_by_level = {3, 3};
static_assert(versions_by_level.back() == protocol::braid_entry::max_version,
              "a new version of the record needs a new level of apply, from which on it is written");

}  // namespace

std::size_t config_size(const topic_config& config) {
  constexpr std::size_t lengths_bytes = 8;
  std::size_t size = slice_overhead_bytes;
  for (const auto& [name, value] : config.values) size += name.size() + value.size() + lengths_bytes;
  return size;
}

std::size_t expiry_size(const producer_expiry& expiry) {
  constexpr std::size_t head_bytes = 16;  // the time, and the length of the list
  return slice_overhead_bytes + head_bytes + expiry.producers.size() * sizeof(std::int64_t);
}

std::int16_t entry_version(std::int16_t apply_level) {
  return versions_by_level[static_cast<std::size_t>(std::clamp<std::int16_t>(apply_level, 0, newest_apply_level))];
}

bytes encode(const entry_command& command, std::int16_t apply_level) {
  return encode_in_version(command, entry_version(apply_level));
}

bytes encode_in_version(const entry_command& command, std::int16_t version) {
  protocol::braid_entry record;
  record.leader_time_ms = command.leader_time_ms;
  record.apply_level = command.apply_level;
  record.creations.reserve(command.creations.size());
  for (const partition_creation& creation : command.creations) {
    record.creations.push_back({creation.target.topic, creation.target.partition, creation.epoch_base,
                                static_cast<std::int64_t>(creation.metadata_index)});
  }
  std::size_t size = 64 + (command.creations.size() + command.deletions.size()) * slice_overhead_bytes;
  for (const topic_config& config : command.configs) {
    auto& values = record.configs.emplace_back(
        protocol::braid_entry::topic_config{config.topic, static_cast<std::int64_t>(config.metadata_index), {}});
    for (const auto& [name, value] : config.values) values.values.push_back({name, value});
    size += config_size(config);
  }
  for (const topic_deletion& deletion : command.deletions) {
    record.deletions.push_back({deletion.topic, static_cast<std::int64_t>(deletion.metadata_index)});
  }
  for (const log_start_move& move : command.log_starts) {
    record.log_starts.push_back({move.target.topic, move.target.partition, move.start});
  }
  size += command.log_starts.size() * slice_overhead_bytes;
  for (const producer_expiry& expiry : command.expiries) {
    record.expiries.push_back({expiry.target.topic, expiry.target.partition, expiry.idle_since_ms, expiry.producers});
    size += expiry_size(expiry);
  }
  record.units.reserve(command.units.size());
  for (const produce_unit& unit : command.units) {
    auto& written = record.units.emplace_back();
    written.atomic_slices = static_cast<std::int32_t>(unit.atomic_slices);
    auto& slices = written.slices;
    slices.reserve(unit.slices.size());
    for (const append_slice& slice : unit.slices) {
      slices.push_back({slice.target.topic, slice.target.partition, slice.batch});
      size += slice.batch.size() + slice_overhead_bytes;
    }
  }
  byte_buffer buffer(size);
  buffer.append_be(version);
  const status written = record.encode(buffer, version);
  BRAID_CHECK(written.has_value(), "entry cannot be written in version {}: {}", version, written.error().to_string());
  return buffer.freeze();
}

result<entry_command> decode(const bytes& payload) {
  if (payload.size() < version_bytes) {
    return fail(std::make_error_code(std::errc::bad_message), "entry of a braid without a version");
  }
  const auto version = load_be<std::int16_t>(payload.data());
  BRAID_TRY(record, protocol::braid_entry::decode(payload.slice(version_bytes), version));
  entry_command command;
  command.leader_time_ms = record.leader_time_ms;
  if (record.apply_level < 0) {
    return fail(std::make_error_code(std::errc::bad_message), fmt::format("apply level {}", record.apply_level));
  }
  command.apply_level = record.apply_level;
  command.creations.reserve(record.creations.size());
  for (const auto& creation : record.creations) {
    command.creations.push_back({{creation.topic_id, creation.partition},
                                 creation.epoch_base,
                                 static_cast<std::uint64_t>(creation.metadata_index)});
  }
  for (auto& config : record.configs) {
    topic_config& read = command.configs.emplace_back();
    read.topic = config.topic_id;
    read.metadata_index = static_cast<std::uint64_t>(config.metadata_index);
    for (auto& one : config.values) read.values.emplace(std::move(one.name), std::move(one.value));
  }
  for (const auto& deletion : record.deletions) {
    command.deletions.push_back({deletion.topic_id, static_cast<std::uint64_t>(deletion.metadata_index)});
  }
  for (const auto& move : record.log_starts) {
    command.log_starts.push_back({{move.topic_id, move.partition}, move.start});
  }
  command.expiries.reserve(record.expiries.size());
  for (auto& expiry : record.expiries) {
    command.expiries.push_back(
        {{expiry.topic_id, expiry.partition}, expiry.idle_since_ms, std::move(expiry.producer_ids)});
  }
  command.units.reserve(record.units.size());
  for (auto& unit : record.units) {
    produce_unit& read = command.units.emplace_back();
    read.slices.reserve(unit.slices.size());
    for (auto& slice : unit.slices) read.slices.push_back({{slice.topic_id, slice.partition}, std::move(slice.batch)});
    if (unit.atomic_slices < 0 || static_cast<std::size_t>(unit.atomic_slices) > unit.slices.size()) {
      return fail(std::make_error_code(std::errc::bad_message),
                  fmt::format("{} of {} slices are atomic", unit.atomic_slices, unit.slices.size()));
    }
    read.atomic_slices = static_cast<std::size_t>(unit.atomic_slices);
  }
  return command;
}

}  // namespace braidmq::braid

#include "braid/entry.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "protocol/generated/braid_entry.hpp"

namespace braidmq::braid {
namespace {

// Two bytes of version stand before the record, so that a later version can read this one.
constexpr std::size_t version_bytes = sizeof(std::int16_t);

}  // namespace

bytes encode(const entry_command& command) {
  protocol::braid_entry record;
  record.leader_time_ms = command.leader_time_ms;
  record.creations.reserve(command.creations.size());
  for (const partition_creation& creation : command.creations) {
    record.creations.push_back({creation.target.topic, creation.target.partition, creation.epoch_base,
                                static_cast<std::int64_t>(creation.metadata_index)});
  }
  record.units.reserve(command.units.size());
  std::size_t size = 64 + command.creations.size() * slice_overhead_bytes;
  for (const produce_unit& unit : command.units) {
    auto& slices = record.units.emplace_back().slices;
    slices.reserve(unit.slices.size());
    for (const append_slice& slice : unit.slices) {
      slices.push_back({slice.target.topic, slice.target.partition, slice.batch});
      size += slice.batch.size() + slice_overhead_bytes;
    }
  }
  byte_buffer buffer(size);
  buffer.append_be(protocol::braid_entry::max_version);
  const status written = record.encode(buffer, protocol::braid_entry::max_version);
  BRAID_CHECK(written.has_value(), "entry cannot be written: {}", written.error().to_string());
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
  command.creations.reserve(record.creations.size());
  for (const auto& creation : record.creations) {
    command.creations.push_back({{creation.topic_id, creation.partition},
                                 creation.epoch_base,
                                 static_cast<std::uint64_t>(creation.metadata_index)});
  }
  command.units.reserve(record.units.size());
  for (auto& unit : record.units) {
    auto& slices = command.units.emplace_back().slices;
    slices.reserve(unit.slices.size());
    for (auto& slice : unit.slices) slices.push_back({{slice.topic_id, slice.partition}, std::move(slice.batch)});
  }
  return command;
}

}  // namespace braidmq::braid

#include "model/batch_builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/varint.hpp"
#include "model/compression.hpp"

namespace braidmq::model {
namespace {

std::size_t field_size(const std::optional<byte_view>& field) {
  if (!field) return 1;
  return unsigned_varint_size(zigzag_encode(static_cast<std::int64_t>(field->size()))) + field->size();
}

void append_zigzag(byte_buffer& to, std::int64_t value) {
  append_unsigned_varint(to, zigzag_encode(value));
}

void append_field(byte_buffer& to, const std::optional<byte_view>& field) {
  append_zigzag(to, field ? static_cast<std::int64_t>(field->size()) : -1);
  if (field) to.append(*field);
}

std::uint16_t attributes_of(const batch_options& options) {
  auto attributes = static_cast<std::uint16_t>(options.codec);
  if (options.timestamps == timestamp_type::log_append_time) attributes |= batch_attributes::log_append_time;
  if (options.transactional) attributes |= batch_attributes::transactional;
  if (options.control) attributes |= batch_attributes::control;
  return attributes;
}

}  // namespace

void append_record(byte_buffer& to, const new_record& record, std::int64_t timestamp_delta, std::int32_t offset_delta) {
  std::size_t body = 1 + unsigned_varint_size(zigzag_encode(timestamp_delta)) +
                     unsigned_varint_size(zigzag_encode(offset_delta)) + field_size(record.key) +
                     field_size(record.value) +
                     unsigned_varint_size(zigzag_encode(static_cast<std::int64_t>(record.headers.size())));
  for (const auto& header : record.headers) body += field_size(as_byte_view(header.key)) + field_size(header.value);

  append_zigzag(to, static_cast<std::int64_t>(body));
  to.append_be(std::int8_t{0});
  append_zigzag(to, timestamp_delta);
  append_zigzag(to, offset_delta);
  append_field(to, record.key);
  append_field(to, record.value);
  append_zigzag(to, static_cast<std::int64_t>(record.headers.size()));
  for (const auto& header : record.headers) {
    append_field(to, as_byte_view(header.key));
    append_field(to, header.value);
  }
}

batch_builder& batch_builder::add(const new_record& record) {
  BRAID_CHECK(count_ < std::numeric_limits<std::int32_t>::max());
  if (count_ == 0) base_timestamp_ms_ = record.timestamp_ms;
  max_timestamp_ms_ = count_ == 0 ? record.timestamp_ms : std::max(max_timestamp_ms_, record.timestamp_ms);
  append_record(records_, record, record.timestamp_ms - base_timestamp_ms_, count_);
  ++count_;
  return *this;
}

batch_builder& batch_builder::add(std::string_view key, std::string_view value, std::int64_t timestamp_ms) {
  return add(new_record{timestamp_ms, as_byte_view(key), as_byte_view(value), {}});
}

result<bytes> batch_builder::build() {
  const byte_buffer records = std::exchange(records_, {});
  const std::int32_t count = std::exchange(count_, 0);
  bytes compressed;
  byte_view payload = records.view();
  if (options_.codec != compression::none) {
    BRAID_TRY(encoded, compress(options_.codec, payload, options_.compression_level));
    compressed = encoded;
    payload = compressed;
  }
  constexpr std::size_t after_length = batch_layout::header_bytes - batch_layout::length_overhead;
  if (payload.size() > std::numeric_limits<std::int32_t>::max() - after_length) {
    return fail(errc::message_too_large, fmt::format("records of {} bytes fit into no batch", payload.size()));
  }
  byte_buffer batch(batch_layout::header_bytes + payload.size());
  batch.append_be(options_.base_offset.value());
  batch.append_be(static_cast<std::int32_t>(payload.size() + after_length));
  batch.append_be(options_.partition_leader_epoch.value());
  batch.append_be(magic_v2);
  batch.append_be(std::uint32_t{0});  // CRC: below
  batch.append_be(attributes_of(options_));
  batch.append_be(std::max(count - 1, 0));
  batch.append_be(base_timestamp_ms_);
  batch.append_be(max_timestamp_ms_);
  batch.append_be(options_.producer_id.value());
  batch.append_be(options_.producer_epoch.value());
  batch.append_be(options_.base_sequence.value());
  batch.append_be(count);
  batch.append(payload);
  batch.put_be(batch_layout::crc, compute_batch_crc(batch.view()));
  return batch.freeze();
}

bytes build_end_marker(producer_id producer, producer_epoch epoch, end_marker marker, std::int64_t timestamp_ms) {
  byte_buffer key;
  key.append_be(std::int16_t{0});
  key.append_be(static_cast<std::int16_t>(marker.type));
  byte_buffer value;
  value.append_be(std::int16_t{0});
  value.append_be(marker.coordinator_epoch);

  batch_options options;
  options.transactional = true;
  options.control = true;
  options.producer_id = producer;
  options.producer_epoch = epoch;
  batch_builder builder(options);
  builder.add(new_record{timestamp_ms, key.view(), value.view(), {}});
  auto batch = builder.build();
  BRAID_CHECK(batch.has_value(), "an end marker always fits");
  return *std::move(batch);
}

}  // namespace braidmq::model

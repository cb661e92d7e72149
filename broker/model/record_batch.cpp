#include "model/record_batch.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/crc32c.hpp"
#include "base/endian.hpp"

namespace braidmq::model {
namespace {

template <class Int>
Int field(byte_view batch, std::size_t at) {
  return load_be<Int>(batch.data() + at);
}

void renew_crc(mutable_byte_view batch) {
  store_be(batch.data() + batch_layout::crc, compute_batch_crc(batch));
}

void check_is_batch(byte_view batch) {
  BRAID_CHECK(batch.size() >= batch_layout::header_bytes, "{} bytes are no batch", batch.size());
}

}  // namespace

sequence batch_header::last_sequence() const {
  constexpr std::int64_t sequences = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  const std::int64_t last = (std::int64_t{base_sequence.value()} + last_offset_delta) % sequences;
  return sequence(static_cast<std::int32_t>(last));
}

result<batch_header> parse_batch_header(byte_view from) {
  // The magic byte stands at the same place in all versions: look at it first, as old batches are shorter.
  if (from.size() > batch_layout::magic) {
    const auto magic = field<std::int8_t>(from, batch_layout::magic);
    if (magic == 0 || magic == 1) {
      return fail(errc::invalid_record, fmt::format("message format {} is not supported, send format 2", magic));
    }
    if (magic != magic_v2) return fail(errc::corrupt_message, fmt::format("magic byte is {}, not 2", magic));
  }
  if (from.size() < batch_layout::header_bytes) {
    return fail(errc::incomplete_batch, fmt::format("{} bytes hold no batch header", from.size()));
  }
  batch_header header;
  header.base_offset = offset(field<std::int64_t>(from, batch_layout::base_offset));
  header.batch_length = field<std::int32_t>(from, batch_layout::batch_length);
  header.partition_leader_epoch = leader_epoch(field<std::int32_t>(from, batch_layout::partition_leader_epoch));
  header.magic = field<std::int8_t>(from, batch_layout::magic);
  header.crc = field<std::uint32_t>(from, batch_layout::crc);
  header.attributes = field<std::uint16_t>(from, batch_layout::attributes);
  header.last_offset_delta = field<std::int32_t>(from, batch_layout::last_offset_delta);
  header.base_timestamp_ms = field<std::int64_t>(from, batch_layout::base_timestamp);
  header.max_timestamp_ms = field<std::int64_t>(from, batch_layout::max_timestamp);
  header.producer_id = producer_id(field<std::int64_t>(from, batch_layout::producer_id));
  header.producer_epoch = producer_epoch(field<std::int16_t>(from, batch_layout::producer_epoch));
  header.base_sequence = sequence(field<std::int32_t>(from, batch_layout::base_sequence));
  header.record_count = field<std::int32_t>(from, batch_layout::record_count);

  constexpr std::int32_t min_length = batch_layout::header_bytes - batch_layout::length_overhead;
  if (header.batch_length < min_length) {
    return fail(errc::corrupt_message,
                fmt::format("batch length {} is below the minimum {}", header.batch_length, min_length));
  }
  return header;
}

result<std::optional<batch_view>> batch_reader::next() {
  if (position_ == block_.size()) return std::optional<batch_view>{};
  const byte_view left = rest();
  BRAID_TRY(header, parse_batch_header(left));
  if (header.size_bytes() > left.size()) {
    return fail(errc::incomplete_batch,
                fmt::format("batch of {} bytes, {} are left", header.size_bytes(), left.size()));
  }
  position_ += header.size_bytes();
  return std::optional<batch_view>{batch_view{header, left.first(header.size_bytes())}};
}

std::uint32_t compute_batch_crc(byte_view batch) {
  check_is_batch(batch);
  return crc32c(batch.subspan(batch_layout::attributes));
}

bool batch_crc_matches(byte_view batch) {
  check_is_batch(batch);
  return field<std::uint32_t>(batch, batch_layout::crc) == compute_batch_crc(batch);
}

result<batch_header> check_whole_batch(byte_view batch) {
  BRAID_TRY(header, parse_batch_header(batch));
  if (header.size_bytes() != batch.size()) {
    return fail(errc::corrupt_message, fmt::format("batch of {} bytes in {}", header.size_bytes(), batch.size()));
  }
  const std::uint32_t crc = compute_batch_crc(batch);
  if (crc != header.crc) {
    return fail(errc::corrupt_message, fmt::format("stored CRC {:08x}, computed {:08x}", header.crc, crc));
  }
  return header;
}

void stamp_batch(mutable_byte_view batch, offset base, leader_epoch epoch) {
  check_is_batch(batch);
  store_be(batch.data() + batch_layout::base_offset, base.value());
  store_be(batch.data() + batch_layout::partition_leader_epoch, epoch.value());
}

void restamp_log_append_time(mutable_byte_view batch, std::int64_t append_time_ms) {
  check_is_batch(batch);
  const auto attributes = field<std::uint16_t>(batch, batch_layout::attributes);
  store_be(batch.data() + batch_layout::attributes,
           static_cast<std::uint16_t>(attributes | batch_attributes::log_append_time));
  restamp_max_timestamp(batch, append_time_ms);
}

void restamp_max_timestamp(mutable_byte_view batch, std::int64_t max_timestamp_ms) {
  check_is_batch(batch);
  store_be(batch.data() + batch_layout::max_timestamp, max_timestamp_ms);
  renew_crc(batch);
}

}  // namespace braidmq::model

// Arbitrary bytes as the `records` field of a Produce request. The first byte chooses the limits and whether length and
// CRC are made right, so that the parsers behind these checks are reached too.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "model/batch_validator.hpp"
#include "model/compression.hpp"
#include "model/record.hpp"
#include "model/record_batch.hpp"
#include "model/record_search.hpp"

namespace {

using namespace braidmq;
using namespace braidmq::model;

validation_limits limits_from(std::uint8_t choice) {
  validation_limits limits;
  limits.now_ms = 1'700'000'000'000;
  limits.max_batch_bytes = 1U << 16U;
  limits.max_decoded_bytes = 1U << 20U;
  limits.zstd_window_log_max = 20;
  limits.allow_zstd = (choice & 2U) == 0;
  limits.require_keys = (choice & 4U) != 0;
  limits.timestamps = (choice & 8U) != 0 ? timestamp_type::log_append_time : timestamp_type::create_time;
  if ((choice & 16U) != 0) {
    limits.timestamp_before_max_ms = 0;
    limits.timestamp_after_max_ms = 0;
  }
  return limits;
}

void seal(std::vector<std::byte>& batch) {
  if (batch.size() < batch_layout::header_bytes) return;
  store_be(batch.data() + batch_layout::batch_length,
           static_cast<std::int32_t>(batch.size() - batch_layout::length_overhead));
  store_be(batch.data() + batch_layout::magic, magic_v2);
  store_be(batch.data() + batch_layout::crc, compute_batch_crc(batch));
}

// What was accepted must be what the other readers of the format see.
void check_accepted(byte_view batch, const validated_batch& accepted) {
  const bytes decoded =
      decompress(*accepted.header.codec(), batch.subspan(batch_layout::header_bytes), accepted.decoded_bytes).value();
  BRAID_CHECK(decoded.size() == accepted.decoded_bytes);
  record_reader reader(decoded, accepted.record_count);
  std::int32_t seen = 0;
  for (;;) {
    const auto record = reader.next().value();
    if (!record) break;
    BRAID_CHECK(record->offset_delta == seen);
    auto headers = record->headers();
    while (headers.next()) {
    }
    ++seen;
  }
  BRAID_CHECK(seen == accepted.record_count);
  const auto latest = find_max_timestamp(batch, {}).value();
  BRAID_CHECK(latest && latest->timestamp_ms == accepted.max_timestamp_ms);
  BRAID_CHECK(latest->offset == offset(accepted.max_timestamp_offset_delta));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const auto* first = reinterpret_cast<const std::byte*>(data + 1);
  std::vector<std::byte> records(first, first + size - 1);
  if ((choice & 1U) != 0) seal(records);

  const auto got = validate_produce_records(records, limits_from(choice));
  if (got) check_accepted(records, *got);

  batch_reader reader(records);
  for (;;) {
    const auto batch = reader.next();
    if (!batch || !*batch) break;
    decode_limits limits;
    limits.max_output_bytes = 1U << 20U;
    limits.max_chunk_bytes = 1U << 20U;
    limits.zstd_window_log_max = 20;
    (void)parse_end_marker((*batch)->data);
    (void)find_first_at_or_after((*batch)->data, 0, offset(0), limits);
  }
  return 0;
}

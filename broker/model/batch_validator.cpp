#include "model/batch_validator.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/record_scanner.hpp"

namespace braidmq::model {
namespace {

// The one batch that fills `records`, with a defined codec and an allowed size.
result<batch_header> check_frame(byte_view records, const validation_limits& limits) {
  if (records.empty()) return fail(errc::invalid_record, "no record batch: exactly one is needed per partition");
  auto parsed = parse_batch_header(records);
  if (!parsed) {
    error e = std::move(parsed).error();
    if (e.code == errc::incomplete_batch) e.code = errc::corrupt_message;
    return tl::unexpected<error>(std::move(e));
  }
  const batch_header header = *parsed;
  const auto codec = header.codec();
  if (!codec) return fail(errc::unsupported_compression, fmt::format("codec id {}", header.codec_id()));
  if (codec == compression::zstd && !limits.allow_zstd) {
    return fail(errc::unsupported_compression, "zstd needs Produce version 7 or later");
  }
  if (header.size_bytes() > records.size()) {
    return fail(errc::corrupt_message, fmt::format("batch of {} bytes in {}", header.size_bytes(), records.size()));
  }
  if (header.size_bytes() > limits.max_batch_bytes) {
    return fail(errc::message_too_large,
                fmt::format("batch of {} bytes, max.message.bytes is {}", header.size_bytes(), limits.max_batch_bytes));
  }
  if (header.size_bytes() < records.size()) {
    return fail(errc::invalid_record, fmt::format("{} bytes follow the batch: exactly one is allowed per partition",
                                                  records.size() - header.size_bytes()));
  }
  return header;
}

status check_producer(const batch_header& header) {
  if (!header.has_producer()) {
    // Epoch and sequence mean nothing then, and some clients leave 0 there instead of -1.
    if (header.is_transactional()) return fail(errc::invalid_record, "transactional batch without a producer id");
    if (header.producer_id != no_producer) {
      return fail(errc::invalid_record, fmt::format("producer id {}", header.producer_id));
    }
    return {};
  }
  if (header.producer_epoch.value() < 0) {
    return fail(errc::invalid_record,
                fmt::format("producer epoch {} with producer id {}", header.producer_epoch, header.producer_id));
  }
  if (header.base_sequence.value() < 0) {
    return fail(errc::invalid_record,
                fmt::format("sequence {} with producer id {}", header.base_sequence, header.producer_id));
  }
  return {};
}

status check_fields(const batch_header& header) {
  if (header.base_offset != offset(0)) {
    return fail(errc::invalid_record, fmt::format("base offset is {}, clients send 0", header.base_offset));
  }
  if (header.record_count <= 0) return fail(errc::invalid_record, fmt::format("record count {}", header.record_count));
  if (std::int64_t{header.last_offset_delta} + 1 != header.record_count) {
    return fail(errc::invalid_record, fmt::format("last offset delta {} does not fit record count {}",
                                                  header.last_offset_delta, header.record_count));
  }
  if (header.is_control()) return fail(errc::invalid_record, "clients may not write control batches");
  if (header.has_delete_horizon()) return fail(errc::invalid_record, "clients may not set a delete horizon");
  if (header.timestamps() == timestamp_type::log_append_time) {
    return fail(errc::invalid_timestamp, "clients may not set LogAppendTime");
  }
  return check_producer(header);
}

// The record's time, inside of the topic's bounds. Negative times other than "none" could never be looked up: -2 and
// below have other meanings in ListOffsets.
result<std::int64_t> check_timestamp(const batch_header& header, std::int64_t delta, const validation_limits& limits) {
  std::int64_t timestamp_ms = 0;
  if (__builtin_add_overflow(header.base_timestamp_ms, delta, &timestamp_ms) || timestamp_ms < no_timestamp) {
    return fail(errc::invalid_timestamp, fmt::format("base timestamp {} + {}", header.base_timestamp_ms, delta));
  }
  if (limits.timestamps != timestamp_type::create_time || timestamp_ms == no_timestamp) return timestamp_ms;
  const bool is_past = timestamp_ms <= limits.now_ms;
  const std::int64_t difference_ms = is_past ? limits.now_ms - timestamp_ms : timestamp_ms - limits.now_ms;
  const std::int64_t allowed_ms = is_past ? limits.timestamp_before_max_ms : limits.timestamp_after_max_ms;
  if (difference_ms > allowed_ms) {
    return fail(errc::invalid_timestamp,
                fmt::format("timestamp {} is {} ms {} the broker's time, allowed are {}", timestamp_ms, difference_ms,
                            is_past ? "before" : "after", allowed_ms));
  }
  return timestamp_ms;
}

// Codecs work in blocks of 32 or 64 KiB, however small the topic's batches must be.
constexpr std::size_t min_chunk_bytes = 64U << 10U;

class records_check {
 public:
  records_check(const batch_header& header, byte_view records, const validation_limits& limits)
      : limits_(limits), scanner_(*header.codec(), records, header.record_count, to_decode_limits(limits)) {
    found_.header = header;
  }

  result<validated_batch> run() {
    for (;;) {
      auto more = check_next();
      if (!more) {
        return tl::unexpected<error>(
            with_context(std::move(more).error(), fmt::format("record {}", found_.record_count)));
      }
      if (!*more) break;
      ++found_.record_count;
    }
    found_.decoded_bytes = scanner_.decoded_bytes();
    found_.max_timestamp_is_wrong = found_.max_timestamp_ms != found_.header.max_timestamp_ms;
    return found_;
  }

 private:
  static decode_limits to_decode_limits(const validation_limits& limits) {
    decode_limits decode;
    decode.max_output_bytes = limits.max_decoded_bytes;
    decode.max_chunk_bytes = std::max(2 * limits.max_batch_bytes, min_chunk_bytes);
    decode.zstd_window_log_max = limits.zstd_window_log_max;
    return decode;
  }

  result<bool> check_next() {
    BRAID_TRY(record, scanner_.next());
    if (!record) return false;
    if (record->offset_delta != found_.record_count) {
      return fail(errc::invalid_record, fmt::format("offset delta is {}", record->offset_delta));
    }
    if (limits_.require_keys && record->key_bytes < 0) {
      return fail(errc::invalid_record, "a compacted topic needs keys");
    }
    BRAID_TRY(timestamp_ms, check_timestamp(found_.header, record->timestamp_delta, limits_));
    if (found_.record_count == 0 || timestamp_ms > found_.max_timestamp_ms) {
      found_.max_timestamp_ms = timestamp_ms;
      found_.max_timestamp_offset_delta = record->offset_delta;
    }
    return true;
  }

  const validation_limits& limits_;
  record_scanner scanner_;
  validated_batch found_;
};

}  // namespace

result<validated_batch> validate_produce_records(byte_view records, const validation_limits& limits) {
  BRAID_TRY(header, check_frame(records, limits));
  const std::uint32_t crc = compute_batch_crc(records);
  if (crc != header.crc) {
    return fail(errc::corrupt_message, fmt::format("batch CRC is {:08x}, its header says {:08x}", crc, header.crc));
  }
  BRAID_TRY_VOID(check_fields(header));
  return records_check(header, records.subspan(batch_layout::header_bytes), limits).run();
}

}  // namespace braidmq::model

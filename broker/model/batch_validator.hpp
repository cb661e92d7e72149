// What a broker checks before a client's records may enter the log: the `records` field of one partition of a Produce
// request (version 3 and later). The client's bytes are never changed or encoded again, so what Kafka repairs by
// encoding anew (offset deltas that are not 0, 1, 2 ...) is refused here.
//
// Records are decoded in a stream: beside the constants of compression.hpp, memory is one window of at most
// 2 x max_batch_bytes (or 64 KiB), whatever the batch decodes to. Pure; any thread.
// Order of the checks, as in Kafka: shape and magic, codec, size, CRC, header fields, records.
// Source: KIP-98; Kafka's documented behaviour of Produce; KIP-937 (timestamp bounds).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

struct validation_limits {
  std::size_t max_batch_bytes = 1'048'588;     // max.message.bytes of the topic: header and compressed records
  std::size_t max_decoded_bytes = 32U << 20U;  // bounds CPU, as the decoded records are never kept
  int zstd_window_log_max = 23;                // see decode_limits
  bool allow_zstd = true;                      // false for Produce before version 7 (KIP-110)
  bool require_keys = false;                   // compacted topics
  timestamp_type timestamps = timestamp_type::create_time;  // of the topic; its bounds count for create_time only
  std::int64_t now_ms = 0;
  std::int64_t timestamp_before_max_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t timestamp_after_max_ms = 3'600'000;
};

struct validated_batch {
  batch_header header;
  std::int64_t max_timestamp_ms = no_timestamp;  // of the records, which the header may have wrong
  std::int32_t max_timestamp_offset_delta = 0;   // of the first record that has it
  std::int32_t record_count = 0;
  std::size_t decoded_bytes = 0;
  // The header names another maximum. Kafka corrects it; do the same with restamp_max_timestamp on a copy, or look-ups
  // by time miss the batch. (Moot when the topic has LogAppendTime.)
  bool max_timestamp_is_wrong = false;
};

// Errors: each value of model::errc but invalid_topic and incomplete_batch, with words that name the record.
result<validated_batch> validate_produce_records(byte_view records, const validation_limits& limits);

}  // namespace braidmq::model

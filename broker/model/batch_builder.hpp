// Makes record batches: for tests, transaction markers, produce over HTTP and braidctl. The data path of the broker
// never builds batches, it carries those of the clients.
//
// Owner: one builder per batch, on one thread. Errors: message_too_large when a batch would pass 2^31-1 bytes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"
#include "model/record.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

struct batch_options {
  compression codec = compression::none;
  std::optional<int> compression_level;  // none: what suits the codec; snappy has no levels
  offset base_offset{0};
  leader_epoch partition_leader_epoch = no_epoch;
  timestamp_type timestamps = timestamp_type::create_time;
  bool transactional = false;
  bool control = false;
  model::producer_id producer_id = no_producer;
  model::producer_epoch producer_epoch{-1};
  sequence base_sequence{-1};
};

struct new_record {
  std::int64_t timestamp_ms = no_timestamp;
  std::optional<byte_view> key;
  std::optional<byte_view> value;
  std::span<const record_header_view> headers;
};

// Appends one record as it stands in a decoded block.
void append_record(byte_buffer& to, const new_record& record, std::int64_t timestamp_delta, std::int32_t offset_delta);

class batch_builder {
 public:
  explicit batch_builder(batch_options options = {}) : options_(options) {}

  // Offset deltas run 0, 1, 2 ...; the first record's timestamp is the batch's base.
  batch_builder& add(const new_record& record);
  batch_builder& add(std::string_view key, std::string_view value, std::int64_t timestamp_ms);

  std::int32_t record_count() const { return count_; }
  std::size_t decoded_bytes() const { return records_.size(); }

  // The batch with its CRC. The builder is empty afterwards and may be used for another batch of the same options.
  result<bytes> build();

 private:
  batch_options options_;
  byte_buffer records_;
  std::int32_t count_ = 0;
  std::int64_t base_timestamp_ms_ = no_timestamp;
  std::int64_t max_timestamp_ms_ = no_timestamp;
};

// A whole control batch that ends a transaction in one partition: one record, key {0, type}, value {0, epoch}.
bytes build_end_marker(producer_id producer, producer_epoch epoch, end_marker marker, std::int64_t timestamp_ms);

}  // namespace braidmq::model

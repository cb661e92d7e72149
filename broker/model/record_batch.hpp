// The header of a record batch, format version 2 ("magic 2"), and the few things that a broker does to a batch without
// looking at its records: walk over a block of batches, check the CRC, stamp offset and leader epoch.
//
// Nothing here copies or owns bytes; a view is good as long as its block. Everything is pure and may run on any thread.
// Errors: model::errc. Input may be arbitrary bytes, except where a function says "a whole batch".
// Source: KIP-98 (message format), KIP-534 (delete horizon).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/errc.hpp"
#include "model/ids.hpp"

namespace braidmq::model {

// Where the header's fields begin. The CRC covers everything from `attributes` to the end of the batch, so the fields
// before it may be stamped without renewing it.
namespace batch_layout {
inline constexpr std::size_t base_offset = 0;
inline constexpr std::size_t batch_length = 8;
inline constexpr std::size_t partition_leader_epoch = 12;
inline constexpr std::size_t magic = 16;
inline constexpr std::size_t crc = 17;
inline constexpr std::size_t attributes = 21;
inline constexpr std::size_t last_offset_delta = 23;
inline constexpr std::size_t base_timestamp = 27;
inline constexpr std::size_t max_timestamp = 35;
inline constexpr std::size_t producer_id = 43;
inline constexpr std::size_t producer_epoch = 51;
inline constexpr std::size_t base_sequence = 53;
inline constexpr std::size_t record_count = 57;
inline constexpr std::size_t header_bytes = 61;

inline constexpr std::size_t length_overhead = 12;  // bytes that batch_length does not count
}  // namespace batch_layout

inline constexpr std::int8_t magic_v2 = 2;
inline constexpr std::int64_t no_timestamp = -1;

enum class compression : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };
enum class timestamp_type : std::uint8_t { create_time = 0, log_append_time = 1 };

namespace batch_attributes {
inline constexpr std::uint16_t codec_mask = 0x07;
inline constexpr std::uint16_t log_append_time = 0x08;
inline constexpr std::uint16_t transactional = 0x10;
inline constexpr std::uint16_t control = 0x20;
inline constexpr std::uint16_t delete_horizon = 0x40;
}  // namespace batch_attributes

struct batch_header {
  offset base_offset{0};
  std::int32_t batch_length = 0;
  leader_epoch partition_leader_epoch = no_epoch;
  std::int8_t magic = magic_v2;
  std::uint32_t crc = 0;
  std::uint16_t attributes = 0;
  std::int32_t last_offset_delta = 0;
  std::int64_t base_timestamp_ms = no_timestamp;
  std::int64_t max_timestamp_ms = no_timestamp;
  model::producer_id producer_id = no_producer;
  model::producer_epoch producer_epoch{-1};
  sequence base_sequence{-1};
  std::int32_t record_count = 0;

  std::size_t size_bytes() const { return batch_layout::length_overhead + static_cast<std::size_t>(batch_length); }

  std::uint8_t codec_id() const { return static_cast<std::uint8_t>(attributes & batch_attributes::codec_mask); }
  // None for the ids 5-7, which nobody has defined.
  std::optional<compression> codec() const {
    if (codec_id() > static_cast<std::uint8_t>(compression::zstd)) return std::nullopt;
    return static_cast<compression>(codec_id());
  }
  timestamp_type timestamps() const {
    return (attributes & batch_attributes::log_append_time) != 0 ? timestamp_type::log_append_time
                                                                 : timestamp_type::create_time;
  }
  bool is_transactional() const { return (attributes & batch_attributes::transactional) != 0; }
  bool is_control() const { return (attributes & batch_attributes::control) != 0; }
  bool has_delete_horizon() const { return (attributes & batch_attributes::delete_horizon) != 0; }
  bool has_producer() const { return producer_id.value() >= 0; }

  // Last offset of this batch when it starts at `base`.
  offset last_offset(offset base) const { return base + last_offset_delta; }
  offset last_offset() const { return last_offset(base_offset); }
  // Sequence of the last record; wraps from 2^31-1 to 0. Requires has_producer().
  sequence last_sequence() const;
};

// Reads the header of the batch at the start of `from`. Checks that the 61 bytes are there (incomplete_batch), magic 2
// (see errc.hpp) and a batch_length that can hold a header (corrupt_message); not that the whole batch is there.
result<batch_header> parse_batch_header(byte_view from);

// A whole batch in a block of somebody else.
struct batch_view {
  batch_header header;
  byte_view data;  // header and records, exactly header.size_bytes()

  byte_view records() const { return data.subspan(batch_layout::header_bytes); }  // compressed if a codec is set
};

// Walks over the whole batches of a block.
//   batch_reader reader(block);
//   for (;;) { BRAID_TRY(batch, reader.next()); if (!batch) break; use(*batch); }
class batch_reader {
 public:
  explicit batch_reader(byte_view block) : block_(block) {}

  // The next batch; none at the end. incomplete_batch when the block ends inside one; corrupt_message when its header
  // is no header. After an error position() is where the bad batch begins.
  result<std::optional<batch_view>> next();

  std::size_t position() const { return position_; }
  byte_view rest() const { return block_.subspan(position_); }

 private:
  byte_view block_;
  std::size_t position_ = 0;
};

// The CRC of a whole batch, and whether the stored one equals it. Requires batch.size() >= header_bytes.
std::uint32_t compute_batch_crc(byte_view batch);
bool batch_crc_matches(byte_view batch);

// Exactly one batch with the right length and CRC: the check for bytes from a disk or a peer.
result<batch_header> check_whole_batch(byte_view batch);

// Writes base offset and leader epoch into a whole batch. The CRC stays valid.
void stamp_batch(mutable_byte_view batch, offset base, leader_epoch epoch);

// Makes a whole batch LogAppendTime with this time and renews the CRC: all its records then count as appended at
// `append_time_ms`, whatever their deltas say.
void restamp_log_append_time(mutable_byte_view batch, std::int64_t append_time_ms);

// Corrects max_timestamp of a whole CreateTime batch and renews the CRC (see validated_batch::max_timestamp_is_wrong).
void restamp_max_timestamp(mutable_byte_view batch, std::int64_t max_timestamp_ms);

}  // namespace braidmq::model

// Records inside a batch, after decompression: views into the decoded block, nothing is copied.
//
// Record: length, attributes (int8), timestamp delta, offset delta, key, value, headers; lengths, deltas and counts are
// zigzag varints, a length of -1 is null. Every length is checked against the bytes that remain, and a record must fill
// its declared length exactly. Pure; any thread. Errors: invalid_record.
// Source: KIP-82 (headers), KIP-98 (record format and control records).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/errc.hpp"
#include "model/ids.hpp"

namespace braidmq::model {

// Attributes, two deltas, key size, value size, header count; a length byte before them.
inline constexpr std::size_t min_record_body_bytes = 6;
inline constexpr std::size_t min_record_bytes = 7;

struct record_header_view {
  std::string_view key;
  std::optional<byte_view> value;
};

// Walks over the headers of one record. A record_view's block has been checked, so this cannot fail.
class record_header_reader {
 public:
  record_header_reader(byte_view block, std::int32_t count) : rest_(block), left_(count) {}
  std::optional<record_header_view> next();

 private:
  byte_view rest_;
  std::int32_t left_;
};

struct record_view {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  std::optional<byte_view> key;
  std::optional<byte_view> value;
  std::int32_t header_count = 0;
  byte_view header_block;
  std::size_t size_bytes = 0;  // with its length field

  record_header_reader headers() const { return {header_block, header_count}; }
};

// The record at the start of `from`.
result<record_view> parse_record(byte_view from);

// Walks over exactly `count` records that must fill `decoded` to its end.
class record_reader {
 public:
  record_reader(byte_view decoded, std::int32_t count) : rest_(decoded), left_(count) {}
  result<std::optional<record_view>> next();

 private:
  byte_view rest_;
  std::int32_t left_;
};

// What a control record's key says (int16 version, int16 type). Types of later versions are kept as they are.
enum class control_type : std::int16_t { abort = 0, commit = 1 };
struct end_marker {
  control_type type = control_type::abort;
  std::int32_t coordinator_epoch = 0;
};
// Reads the first record of a whole, uncompressed control batch; none when it is not a transaction's end marker.
result<std::optional<end_marker>> parse_end_marker(byte_view batch);

}  // namespace braidmq::model

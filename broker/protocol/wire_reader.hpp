// Reads the Kafka wire format from a frame that somebody sent us, so nothing in it is trusted: every length and count
// is held against the bytes that remain before anything is allocated. bytes and records come out as slices of the
// frame.
//
// Errors stick: after the first failure every read gives a default value and loops end, so that generated code checks
// once, at the end. Flexible versions (KIP-482) have compact lengths and tagged fields; the flag is per message.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/endian.hpp"
#include "base/result.hpp"
#include "base/uuid.hpp"
#include "protocol/errc.hpp"

namespace braidmq::protocol {

// Kafka's own bound, also where the compact form could say more.
inline constexpr std::size_t max_string_size_bytes = 0x7fff;
// Tags that we do not know come from newer peers, a few at a time; a flood of them is an attack (CVE-2026-111115).
inline constexpr std::size_t max_unknown_tags = 64;

// What a message may take once it is decoded, beyond the frame itself: elements of arrays, and strings. A count that
// the bytes bear out can still become forty times their size in memory.
struct decode_limit {
  std::size_t left_bytes = std::numeric_limits<std::size_t>::max();
};

class wire_reader {
 public:
  // `limit`, if any, is used up by what is read, and outlives the reader.
  wire_reader(bytes frame, bool flexible, decode_limit* limit = nullptr)
      : frame_(std::move(frame)), end_(frame_.size()), flexible_(flexible), limit_(limit) {}

  bool ok() const { return !failed_; }
  bool flexible() const { return flexible_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return end_ - position_; }
  // The bytes that were not read yet.
  bytes rest() const { return frame_.slice(position_, remaining()); }

  // The first failure wins; `text` says what is wrong with the value at the current position.
  void fail(errc code, std::string text);
  // Success, or the failure with "<what> at byte N" in front. Bytes left over are malformed.
  status finish(std::string_view what);
  status state(std::string_view what) const;

  template <class Int>
  Int read_int() {
    if (!need(sizeof(Int))) return Int{};
    const Int value = load_be<Int>(frame_.data() + position_);
    position_ += sizeof(Int);
    return value;
  }
  bool read_bool() { return read_int<std::uint8_t>() != 0; }
  double read_float64();
  uuid read_uuid();
  std::uint32_t read_unsigned_varint();

  std::string read_string();
  std::optional<std::string> read_nullable_string();
  // Two bytes of length also in flexible versions: the client id of a request header.
  std::optional<std::string> read_classic_nullable_string();

  bytes read_bytes();
  std::optional<bytes> read_nullable_bytes();

  // The count of an array whose elements take at least `min_element_bytes` each (0 is taken as 1).
  std::size_t read_array_count(std::size_t min_element_bytes);
  std::optional<std::size_t> read_nullable_array_count(std::size_t min_element_bytes);
  // Makes room for the elements of an array whose count was read: none when they are beyond the limit.
  template <class Items>
  void reserve(Items& items, std::size_t count) {
    if (charge(count * sizeof(typename Items::value_type))) items.reserve(count);
  }
  // Nullable structures begin with one byte: negative for null.
  bool read_struct_presence() { return read_int<std::int8_t>() >= 0; }

 private:
  friend class tagged_fields_reader;

  bool need(std::size_t size);
  bool charge(std::size_t decoded_bytes);
  std::optional<std::size_t> read_string_length();
  std::optional<std::size_t> read_classic_string_length();
  std::optional<std::size_t> read_block_length();
  std::string take_string(std::size_t length);
  bytes take_bytes(std::size_t length);
  bool count_fits(std::size_t count, std::size_t min_element_bytes);
  void fail_null(std::string_view what);

  bytes frame_;
  std::size_t position_ = 0;
  std::size_t end_;  // narrowed while a tagged field is read
  bool flexible_;
  decode_limit* limit_;
  bool failed_ = false;
  error error_;
};

// The tagged fields at the end of a structure of a flexible version:
//   tagged_fields_reader tags(in);
//   while (tags.next()) { switch (tags.tag()) { case 0: ...read it...; break; default: tags.skip(); } }
// Tags must rise strictly; a field must fill exactly the size that it declares. Unknown tags are skipped, not kept.
class tagged_fields_reader {
 public:
  explicit tagged_fields_reader(wire_reader& in);
  tagged_fields_reader(const tagged_fields_reader&) = delete;
  tagged_fields_reader& operator=(const tagged_fields_reader&) = delete;

  bool next();
  std::uint32_t tag() const { return tag_; }
  void skip();

 private:
  void close_field();

  wire_reader& in_;
  std::size_t outer_end_;
  std::uint32_t left_ = 0;
  std::uint32_t tag_ = 0;
  std::size_t unknown_ = 0;
  bool any_ = false;
};

// Whether `text` is well-formed UTF-8 (RFC 3629: no surrogates, no over-long forms).
bool is_utf8(std::string_view text);

}  // namespace braidmq::protocol

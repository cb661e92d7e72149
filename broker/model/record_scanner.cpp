#include "model/record_scanner.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/varint.hpp"

namespace braidmq::model {
namespace {

// Reads one record that lies in memory as a whole, without an error object per field: nearly every record does, and
// this is the inner loop of every Produce request.
class quick_reader {
 public:
  explicit quick_reader(byte_view window) : at_(window.data()), end_(at_ + window.size()) {}

  // Bytes of the record at the start of the window; none when it is not whole or not right. Which of the two, and what
  // is wrong, is for the thorough reader to say.
  std::optional<std::size_t> read(record_shape& shape) {
    const std::byte* const begin = at_;
    const std::int32_t length = read_int();
    if (!ok_ || length < static_cast<std::int32_t>(min_record_body_bytes) || length > end_ - at_) return std::nullopt;
    end_ = at_ + length;
    ++at_;  // attributes
    shape.timestamp_delta = zigzag_decode(read_unsigned<std::uint64_t>());
    shape.offset_delta = read_int();
    shape.key_bytes = read_field();
    shape.value_bytes = read_field();
    shape.header_count = read_int();
    if (shape.header_count < 0 || shape.header_count > (end_ - at_) / 2) return std::nullopt;
    for (std::int32_t i = 0; i < shape.header_count && ok_; ++i) {
      if (read_field() < 0) return std::nullopt;
      read_field();
    }
    if (!ok_ || at_ != end_) return std::nullopt;
    return static_cast<std::size_t>(end_ - begin);
  }

 private:
  template <class Unsigned>
  Unsigned read_unsigned() {
    if (at_ != end_ && (*at_ & std::byte{0x80}) == std::byte{0}) return std::to_integer<Unsigned>(*at_++);
    const auto value = decode_unsigned_varint<Unsigned>(byte_view(at_, end_));
    if (!value) return refuse();
    at_ += value->length;
    return value->value;
  }
  std::int32_t read_int() { return zigzag_decode32(read_unsigned<std::uint32_t>()); }
  std::int32_t read_field() {
    const std::int32_t size = read_int();
    if (size < -1 || size > end_ - at_) {
      refuse();
      return 0;
    }
    if (size > 0) at_ += size;
    return size;
  }
  std::uint8_t refuse() {
    ok_ = false;
    end_ = at_;
    return 0;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace

record_scanner::record_scanner(compression codec, byte_view records, std::int32_t record_count,
                               const decode_limits& limits)
    : decoder_(make_decoder(codec, records, limits)), left_(record_count) {}

// False at the end of the decoded stream.
result<bool> record_scanner::refill() {
  if (!window_.empty()) return true;
  BRAID_TRY(window, decoder_->next());
  window_ = window;
  return !window_.empty();
}

// Every byte of a record is taken through here or through skip(), so none can be taken beyond its length.
result<std::uint8_t> record_scanner::read_byte() {
  if (record_left_ == 0) return fail(errc::invalid_record, "record fields run beyond its length");
  BRAID_TRY(more, refill());
  if (!more) return fail(errc::invalid_record, "decoded records end in the middle of one");
  const auto byte = std::to_integer<std::uint8_t>(window_.front());
  window_ = window_.subspan(1);
  --record_left_;
  ++consumed_;
  return byte;
}

status record_scanner::skip(std::uint64_t count) {
  if (count > record_left_) return fail(errc::invalid_record, "a length runs beyond its record");
  while (count > 0) {
    BRAID_TRY(more, refill());
    if (!more) return fail(errc::invalid_record, "decoded records end in the middle of one");
    const std::size_t step = std::min<std::uint64_t>(count, window_.size());
    window_ = window_.subspan(step);
    consumed_ += step;
    record_left_ -= step;
    count -= step;
  }
  return {};
}

result<std::uint64_t> record_scanner::read_unsigned(unsigned bits) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < bits; shift += 7) {
    BRAID_TRY(byte, read_byte());
    const std::uint64_t payload = byte & 0x7fU;
    if (shift + 7 > bits && (payload >> (bits - shift)) != 0) break;
    value |= payload << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return fail(errc::invalid_record, "a varint is too long");
}

result<std::int32_t> record_scanner::read_int() {
  BRAID_TRY(raw, read_unsigned(32));
  return zigzag_decode32(static_cast<std::uint32_t>(raw));
}

// A nullable length and what it counts.
result<std::int32_t> record_scanner::read_field() {
  BRAID_TRY(size, read_int());
  if (size < -1) return fail(errc::invalid_record, fmt::format("length {} is negative", size));
  if (size > 0) BRAID_TRY_VOID(skip(static_cast<std::uint64_t>(size)));
  return size;
}

status record_scanner::read_headers(std::int32_t count) {
  if (count < 0 || static_cast<std::uint64_t>(count) > record_left_ / 2) {
    return fail(errc::invalid_record, fmt::format("header count {} in {} bytes", count, record_left_));
  }
  for (std::int32_t i = 0; i < count; ++i) {
    BRAID_TRY(key_bytes, read_field());
    if (key_bytes < 0) return fail(errc::invalid_record, "a header has no key");
    BRAID_TRY_VOID(read_field());
  }
  return {};
}

status record_scanner::finish() {
  BRAID_TRY(more, refill());
  if (more) return fail(errc::invalid_record, "bytes follow after the last record");
  return {};
}

result<std::optional<record_shape>> record_scanner::next() {
  if (left_ <= 0) {
    BRAID_TRY_VOID(finish());
    return std::optional<record_shape>{};
  }
  record_shape shape;
  if (const auto size = quick_reader(window_).read(shape)) {
    window_ = window_.subspan(*size);
    consumed_ += *size;
    --left_;
    return std::optional<record_shape>{shape};
  }
  return read_thoroughly();
}

// Byte by byte, over the borders of windows, with words for what is wrong.
result<std::optional<record_shape>> record_scanner::read_thoroughly() {
  record_left_ = std::numeric_limits<std::uint64_t>::max();  // the length itself lies outside of the record
  BRAID_TRY(length, read_int());
  if (length < static_cast<std::int32_t>(min_record_body_bytes)) {
    return fail(errc::invalid_record, fmt::format("record length {} is too small", length));
  }
  record_left_ = static_cast<std::uint64_t>(length);

  record_shape shape;
  BRAID_TRY_VOID(read_byte());  // attributes: no bit of them has a meaning yet
  BRAID_TRY(timestamp_delta, read_unsigned(64));
  shape.timestamp_delta = zigzag_decode(timestamp_delta);
  BRAID_TRY(offset_delta, read_int());
  shape.offset_delta = offset_delta;
  BRAID_TRY(key_bytes, read_field());
  shape.key_bytes = key_bytes;
  BRAID_TRY(value_bytes, read_field());
  shape.value_bytes = value_bytes;
  BRAID_TRY(header_count, read_int());
  shape.header_count = header_count;
  BRAID_TRY_VOID(read_headers(header_count));
  if (record_left_ != 0) return fail(errc::invalid_record, "record is shorter than its length");
  --left_;
  return std::optional<record_shape>{shape};
}

}  // namespace braidmq::model

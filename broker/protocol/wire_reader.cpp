#include "protocol/wire_reader.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/varint.hpp"

namespace braidmq::protocol {

void wire_reader::fail(errc code, std::string text) {
  if (failed_) return;
  failed_ = true;
  error_ = error{make_error_code(code), fmt::format("at byte {}: {}", position_, text)};
}

status wire_reader::state(std::string_view what) const {
  if (!failed_) return {};
  return tl::unexpected<error>(with_context(error_, std::string(what)));
}

status wire_reader::finish(std::string_view what) {
  if (!failed_ && remaining() != 0) fail(errc::malformed, fmt::format("{} bytes after the end", remaining()));
  return state(what);
}

bool wire_reader::need(std::size_t size) {
  if (failed_) return false;
  if (size <= remaining()) return true;
  fail(errc::truncated, fmt::format("{} bytes wanted, {} left", size, remaining()));
  return false;
}

bool wire_reader::charge(std::size_t decoded_bytes) {
  if (failed_) return false;
  if (limit_ == nullptr) return true;
  if (decoded_bytes > limit_->left_bytes) {
    fail(errc::too_large, "the message takes more memory than a request of its size may");
    return false;
  }
  limit_->left_bytes -= decoded_bytes;
  return true;
}

void wire_reader::fail_null(std::string_view what) {
  fail(errc::malformed, fmt::format("null {} where null is not allowed", what));
}

double wire_reader::read_float64() {
  return std::bit_cast<double>(read_int<std::uint64_t>());
}

uuid wire_reader::read_uuid() {
  uuid id;
  if (!need(id.octets.size())) return id;
  std::memcpy(id.octets.data(), frame_.data() + position_, id.octets.size());
  position_ += id.octets.size();
  return id;
}

std::uint32_t wire_reader::read_unsigned_varint() {
  if (failed_) return 0;
  const byte_view left = frame_.view().subspan(position_, remaining());
  const auto decoded = decode_unsigned_varint<std::uint32_t>(left);
  if (!decoded) {
    const bool cut =
        left.size() < 5 && std::ranges::all_of(left, [](std::byte b) { return (b & std::byte{0x80}) != std::byte{}; });
    fail(cut ? errc::truncated : errc::malformed, cut ? "varint is cut" : "varint does not fit 32 bits");
    return 0;
  }
  position_ += decoded->length;
  return decoded->value;
}

std::optional<std::size_t> wire_reader::read_classic_string_length() {
  const auto length = read_int<std::int16_t>();
  if (length >= 0) return static_cast<std::size_t>(length);
  if (length != -1) fail(errc::malformed, fmt::format("string length {}", length));
  return std::nullopt;
}

std::optional<std::size_t> wire_reader::read_string_length() {
  if (!flexible_) return read_classic_string_length();
  const std::uint32_t length_plus_one = read_unsigned_varint();
  if (length_plus_one == 0) return std::nullopt;
  if (length_plus_one - 1 > max_string_size_bytes) {
    fail(errc::malformed, fmt::format("string of {} bytes", length_plus_one - 1));
  }
  return length_plus_one - 1;
}

// The length of bytes, records and arrays.
std::optional<std::size_t> wire_reader::read_block_length() {
  if (flexible_) {
    const std::uint32_t length_plus_one = read_unsigned_varint();
    if (length_plus_one == 0) return std::nullopt;
    return length_plus_one - 1;
  }
  const auto length = read_int<std::int32_t>();
  if (length >= 0) return static_cast<std::size_t>(length);
  if (length != -1) fail(errc::malformed, fmt::format("length {}", length));
  return std::nullopt;
}

std::string wire_reader::take_string(std::size_t length) {
  if (!need(length)) return {};
  const std::string_view text = as_string_view(frame_.view().subspan(position_, length));
  if (!is_utf8(text)) {
    fail(errc::malformed, "string is not UTF-8");
    return {};
  }
  constexpr std::size_t inside_bytes = 15;  // short ones need no memory of their own
  if (length > inside_bytes && !charge(length)) return {};
  position_ += length;
  return std::string(text);
}

bytes wire_reader::take_bytes(std::size_t length) {
  if (!need(length)) return {};
  bytes block = frame_.slice(position_, length);
  position_ += length;
  return block;
}

std::string wire_reader::read_string() {
  const auto length = read_string_length();
  if (!length) fail_null("string");
  return length ? take_string(*length) : std::string{};
}

std::optional<std::string> wire_reader::read_nullable_string() {
  const auto length = read_string_length();
  if (!length) return std::nullopt;
  return take_string(*length);
}

std::optional<std::string> wire_reader::read_classic_nullable_string() {
  const auto length = read_classic_string_length();
  if (!length) return std::nullopt;
  return take_string(*length);
}

bytes wire_reader::read_bytes() {
  const auto length = read_block_length();
  if (!length) fail_null("bytes");
  return length ? take_bytes(*length) : bytes{};
}

std::optional<bytes> wire_reader::read_nullable_bytes() {
  const auto length = read_block_length();
  if (!length) return std::nullopt;
  return take_bytes(*length);
}

bool wire_reader::count_fits(std::size_t count, std::size_t min_element_bytes) {
  if (failed_) return false;
  const std::size_t room = remaining() / std::max<std::size_t>(min_element_bytes, 1);
  if (count <= room) return true;
  fail(errc::malformed, fmt::format("{} elements announced, {} bytes left", count, remaining()));
  return false;
}

std::size_t wire_reader::read_array_count(std::size_t min_element_bytes) {
  const auto count = read_block_length();
  if (!count) fail_null("array");
  return count && count_fits(*count, min_element_bytes) ? *count : 0;
}

std::optional<std::size_t> wire_reader::read_nullable_array_count(std::size_t min_element_bytes) {
  const auto count = read_block_length();
  if (!count || !count_fits(*count, min_element_bytes)) return std::nullopt;
  return count;
}

tagged_fields_reader::tagged_fields_reader(wire_reader& in) : in_(in), outer_end_(in.end_) {
  left_ = in_.read_unsigned_varint();
  constexpr std::size_t min_field_bytes = 2;  // tag and size
  if (!in_.count_fits(left_, min_field_bytes)) left_ = 0;
}

bool tagged_fields_reader::next() {
  close_field();
  if (!in_.ok() || left_ == 0) return false;
  --left_;
  const std::uint32_t tag = in_.read_unsigned_varint();
  if (any_ && tag <= tag_) in_.fail(errc::malformed, fmt::format("tag {} after tag {}", tag, tag_));
  const std::uint32_t size = in_.read_unsigned_varint();
  if (!in_.need(size)) return false;
  tag_ = tag;
  any_ = true;
  in_.end_ = in_.position_ + size;
  return true;
}

void tagged_fields_reader::close_field() {
  if (!any_) return;
  if (in_.ok() && in_.remaining() != 0) {
    in_.fail(errc::malformed, fmt::format("tagged field {} is {} bytes longer than its value", tag_, in_.remaining()));
  }
  in_.end_ = outer_end_;
}

void tagged_fields_reader::skip() {
  if (++unknown_ > max_unknown_tags) {
    in_.fail(errc::malformed, fmt::format("more than {} unknown tagged fields", max_unknown_tags));
    return;
  }
  in_.position_ = in_.end_;
}

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    // The second byte's range carries all that is irregular: over-long forms, surrogates, beyond U+10FFFF.
    std::ptrdiff_t followers = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      followers = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      followers = 2;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      followers = 3;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (end - at < followers || *at < low || *at > high) return false;
    for (std::ptrdiff_t i = 1; i < followers; ++i) {
      if ((at[i] & 0xc0) != 0x80) return false;
    }
    at += followers;
  }
  return true;
}

}  // namespace braidmq::protocol

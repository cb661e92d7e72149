// Variable-length integers as the Kafka protocol has them: 7 bits a byte, lowest first; signed ones are zigzag coded.
// Decoders refuse what runs past the input and what does not fit; an over-long form with superfluous zero bytes within
// the maximal length (5 or 10 bytes) is accepted, as Kafka does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"

namespace braidmq {

template <class Unsigned>
struct varint_result {
  Unsigned value;
  std::size_t length;  // bytes read
};

template <class Unsigned>
std::optional<varint_result<Unsigned>> decode_unsigned_varint(byte_view from) {
  constexpr unsigned bits = sizeof(Unsigned) * 8;
  Unsigned value = 0;
  unsigned shift = 0;
  for (std::size_t i = 0; i < from.size() && shift < bits; ++i, shift += 7) {
    const auto byte = std::to_integer<Unsigned>(from[i]);
    const auto payload = static_cast<Unsigned>(byte & 0x7fU);
    if (shift + 7 > bits && (payload >> (bits - shift)) != 0) return std::nullopt;  // does not fit
    value = static_cast<Unsigned>(value | static_cast<Unsigned>(payload << shift));
    if ((byte & 0x80U) == 0) return varint_result<Unsigned>{value, i + 1};
  }
  return std::nullopt;
}

inline void append_unsigned_varint(byte_buffer& to, std::uint64_t value) {
  while (value >= 0x80U) {
    to.append_be(static_cast<std::uint8_t>((value & 0x7fU) | 0x80U));
    value >>= 7U;
  }
  to.append_be(static_cast<std::uint8_t>(value));
}

inline std::size_t unsigned_varint_size(std::uint64_t value) {
  std::size_t length = 1;
  while (value >= 0x80U) {
    value >>= 7U;
    ++length;
  }
  return length;
}

constexpr std::uint64_t zigzag_encode(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t zigzag_decode(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}
constexpr std::uint32_t zigzag_encode32(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1U) ^ static_cast<std::uint32_t>(value >> 31);
}
constexpr std::int32_t zigzag_decode32(std::uint32_t value) {
  return static_cast<std::int32_t>(value >> 1U) ^ -static_cast<std::int32_t>(value & 1U);
}

}  // namespace braidmq

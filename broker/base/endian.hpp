// Big-endian loads and stores at a place in memory; the caller has checked that the bytes are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace braidmq {

template <class Int>
Int load_be(const std::byte* from) {
  using Unsigned = std::make_unsigned_t<Int>;
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) {
    if constexpr (sizeof(Int) > 1) value = static_cast<Unsigned>(value << 8U);
    value = static_cast<Unsigned>(value | std::to_integer<Unsigned>(from[i]));
  }
  return static_cast<Int>(value);
}

template <class Int>
void store_be(std::byte* to, Int value) {
  using Unsigned = std::make_unsigned_t<Int>;
  auto rest = static_cast<Unsigned>(value);
  for (std::size_t i = sizeof(Int); i-- > 0;) {
    to[i] = static_cast<std::byte>(rest & 0xffU);
    if constexpr (sizeof(Int) > 1) rest = static_cast<Unsigned>(rest >> 8U);
  }
}

}  // namespace braidmq

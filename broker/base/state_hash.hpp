// Sums that say whether two replicas hold the same state, whatever the order in which they came to it: every row adds
// the XXH3-128 of its bytes, modulo 2^128, and takes it away when it changes. Not a defence against forgery.
// Source: xxHash, XXH3 (stable since 0.8.0): the values may be stored.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace braidmq {

struct hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const hash128&, const hash128&) = default;

  hash128& operator+=(const hash128& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  hash128& operator-=(const hash128& other) {
    high -= other.high + (low < other.low ? 1 : 0);
    low -= other.low;
    return *this;
  }
  std::string to_string() const;  // 32 hexadecimal digits
};

hash128 hash_of(byte_view row);

// Of a sequence of blocks: begins at {}, and each block gives the next value.
hash128 hash_chain(const hash128& before, byte_view block);

}  // namespace braidmq

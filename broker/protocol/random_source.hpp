// Random values for round-trip tests and fuzzing; the same seed gives the same values. Not for production.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "base/bytes.hpp"
#include "base/uuid.hpp"

namespace braidmq::protocol {

class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}

  bool coin() { return one_in(2); }
  bool one_in(std::uint64_t n) { return engine_() % n == 0; }
  std::size_t count() { return engine_() % 4; }

  // Mostly small numbers, now and then the ends of the range.
  template <class Int>
  Int integer() {
    switch (engine_() % 8) {
      case 0:
        return std::numeric_limits<Int>::min();
      case 1:
        return std::numeric_limits<Int>::max();
      case 2:
        return static_cast<Int>(engine_());
      default:
        return static_cast<Int>(engine_() % 100);
    }
  }
  double float64() { return static_cast<double>(integer<std::int64_t>()) / 8; }
  uuid id() {
    uuid id;
    for (auto& octet : id.octets) octet = integer<std::uint8_t>();
    return id;
  }
  // One to four bytes a character; some longer than 127 bytes, so that a compact length takes two.
  std::string text() {
    static constexpr const char* letters[] = {
        "a", "0", "-", "\"", "\n", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\xa6\x84"};
    std::string text;
    for (std::size_t left = one_in(16) ? 200 : count() * 2; left > 0; --left)
      text += letters[engine_() % std::size(letters)];
    return text;
  }
  bytes block() {
    std::string block(one_in(16) ? 300 : count() * 3, '\0');
    for (char& c : block) c = static_cast<char>(engine_());
    return bytes::copy_of(block);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace braidmq::protocol

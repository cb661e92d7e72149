// Bytes written as hex in tests: "00 01 ff", blanks ignored.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace braidmq::protocol {

inline bytes from_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits.push_back(c);
  }
  std::string block;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    block.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes::copy_of(block);
}

inline std::string to_hex(byte_view block) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : block) {
    if (!text.empty()) text.push_back(' ');
    text.push_back(digits[std::to_integer<unsigned>(b) >> 4U]);
    text.push_back(digits[std::to_integer<unsigned>(b) & 15U]);
  }
  return text;
}

}  // namespace braidmq::protocol

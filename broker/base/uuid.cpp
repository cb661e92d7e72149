#include "base/uuid.hpp"

namespace braidmq {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t text_length = 22;  // 128 bits in 6-bit digits; the last digit holds two bits

}  // namespace

std::string uuid::to_string() const {
  std::string text;
  text.reserve(text_length);
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const std::uint8_t octet : octets) {
    pending = (pending << 8U) | octet;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text.push_back(alphabet[(pending >> bits) & 0x3fU]);
    }
  }
  text.push_back(alphabet[(pending << (6 - bits)) & 0x3fU]);
  return text;
}

std::optional<uuid> uuid::parse(std::string_view text) {
  if (text.size() != text_length) return std::nullopt;
  uuid id;
  std::uint32_t pending = 0;
  unsigned bits = 0;
  std::size_t next = 0;
  for (const char digit : text) {
    const std::size_t value = alphabet.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    pending = (pending << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      id.octets[next++] = static_cast<std::uint8_t>(pending >> bits);
    }
  }
  const bool has_stray_bits = (pending & ((1U << bits) - 1U)) != 0;
  return has_stray_bits ? std::nullopt : std::optional(id);
}

}  // namespace braidmq

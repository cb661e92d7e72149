// 128-bit identifiers: topic ids, cluster ids, incarnations. Text form is Kafka's: 22 characters of URL-safe base64.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace braidmq {

struct uuid {
  std::array<std::uint8_t, 16> octets{};

  friend auto operator<=>(const uuid&, const uuid&) = default;

  bool is_zero() const { return *this == uuid{}; }
  std::string to_string() const;
  static std::optional<uuid> parse(std::string_view text);
};

}  // namespace braidmq

template <>
struct std::hash<braidmq::uuid> {
  std::size_t operator()(const braidmq::uuid& id) const noexcept {
    std::size_t value = 0;
    std::memcpy(&value, id.octets.data(), sizeof value);  // random ids: any eight bytes will do
    return value;
  }
};

template <>
struct fmt::formatter<braidmq::uuid> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const braidmq::uuid& id, Context& context) const {
    return fmt::formatter<std::string>::format(id.to_string(), context);
  }
};

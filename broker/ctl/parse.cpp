#include "ctl/parse.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace braidmq::ctl {

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::uint32_t max_number = 10'000'000;
  std::uint32_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || number > max_number) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == "ms") return std::chrono::milliseconds(number);
  if (unit == "s") return std::chrono::seconds(number);
  if (unit == "m") return std::chrono::minutes(number);
  return std::nullopt;
}

std::optional<std::map<std::string, std::string>> parse_configs(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> configs;
  for (const std::string& one : texts) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || equals == 0) return std::nullopt;
    if (!configs.emplace(one.substr(0, equals), one.substr(equals + 1)).second) return std::nullopt;
  }
  return configs;
}

std::string url_of(const std::string& text) {
  return text.find("://") == std::string::npos ? "http://" + text : text;
}

}  // namespace braidmq::ctl

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

std::optional<kafka_client::outgoing_record> parse_record(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view target = text.substr(0, equals);
  const auto colon = target.find(':');
  kafka_client::outgoing_record record;
  record.topic = std::string(target.substr(0, colon));
  record.value = std::string(text.substr(equals + 1));
  if (record.topic.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return record;
  std::int32_t partition = 0;
  const std::string_view digits = target.substr(colon + 1);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), partition);
  if (code != std::errc{} || end != digits.data() + digits.size() || partition < 0) return std::nullopt;
  record.partition = partition;
  return record;
}

std::optional<kafka_client::outgoing_record> parse_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto first = line.find('\t');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const auto second = line.find('\t', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  kafka_client::outgoing_record record;
  record.topic = std::string(line.substr(0, first));
  if (second > first + 1) record.key = std::string(line.substr(first + 1, second - first - 1));
  record.value = std::string(line.substr(second + 1));
  return record;
}

std::string url_of(const std::string& text) {
  return text.find("://") == std::string::npos ? "http://" + text : text;
}

}  // namespace braidmq::ctl

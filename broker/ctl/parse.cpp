#include "ctl/parse.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace braidmq::ctl {
namespace {

// Nothing but digits.
template <class Int>
std::optional<Int> parse_digits(std::string_view text) {
  Int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return number;
}

// "2026-11-30T12:00:00Z", "2026-11-30T12:00:00.250Z" -> milliseconds since 1970.
std::optional<std::int64_t> parse_time(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  constexpr std::string_view longer_form = "0000-00-00T00:00:00.000Z";
  const std::string_view wanted = text.size() == form.size() ? form : longer_form;
  if (text.size() != wanted.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (wanted[i] == '0' ? !is_digit : text[i] != wanted[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t size) { return *parse_digits<int>(text.substr(at, size)); };
  using std::chrono::day, std::chrono::month, std::chrono::year;
  const std::chrono::year_month_day date(year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                                         day(static_cast<unsigned>(number(8, 2))));
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
  const int millis = wanted == longer_form ? number(20, 3) : 0;
  const auto since = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(number(11, 2)) +
                     std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) +
                     std::chrono::milliseconds(millis);
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace

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

std::optional<topic_argument> parse_topic(std::string_view text) {
  const auto colon = text.find(':');
  topic_argument parsed{std::string(text.substr(0, colon)), std::nullopt};
  if (parsed.name.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return parsed;
  const auto partition = parse_digits<std::int32_t>(text.substr(colon + 1));
  if (!partition) return std::nullopt;
  parsed.partition = partition;
  return parsed;
}

std::optional<kafka_client::start_position> parse_start(std::string_view text, std::int64_t now_ms) {
  using kind = kafka_client::start_position::kind;
  if (text == "earliest") return kafka_client::start_position{kind::earliest};
  if (text == "latest") return kafka_client::start_position{kind::latest};
  if (const auto offset = parse_digits<std::int64_t>(text)) return kafka_client::start_position{kind::offset, *offset};
  if (const auto ago = parse_duration(text)) return kafka_client::start_position{kind::time, now_ms - ago->count()};
  if (const auto time = parse_time(text)) return kafka_client::start_position{kind::time, *time};
  return std::nullopt;
}

std::string url_of(const std::string& text) {
  return text.find("://") == std::string::npos ? "http://" + text : text;
}

}  // namespace braidmq::ctl

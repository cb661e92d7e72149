#include "k8s/time.hpp"

#include <chrono>

#include <fmt/format.h>

namespace braidmq::k8s {
namespace {

struct civil_time {
  int year;
  unsigned month, day;
  int hour, minute, second, millisecond;
};

civil_time split(std::int64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(unix_ms)};
  const auto midnight = floor<days>(at);
  const year_month_day date(midnight);
  const hh_mm_ss<milliseconds> of_day(at - midnight);
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          static_cast<int>(of_day.hours().count()),
          static_cast<int>(of_day.minutes().count()),
          static_cast<int>(of_day.seconds().count()),
          static_cast<int>(of_day.subseconds().count())};
}

// Takes `digits` decimal digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// The fraction of a second, to the millisecond; what is finer is dropped.
std::optional<int> take_fraction_ms(std::string_view& text) {
  if (!take(text, '.')) return 0;
  int value = 0, weight = 100;
  std::size_t digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    value += (text.front() - '0') * weight;
    weight /= 10;
    text.remove_prefix(1);
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  return value;
}

std::optional<int> take_offset_minutes(std::string_view& text) {
  if (take(text, 'Z')) return 0;
  const bool west = take(text, '-');
  if (!west && !take(text, '+')) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + *minutes);
}

}  // namespace

std::string format_time(std::int64_t unix_ms) {
  const civil_time t = split(unix_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", t.year, t.month, t.day, t.hour, t.minute, t.second);
}

std::string format_micro_time(std::int64_t unix_ms) {
  const civil_time t = split(unix_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}000Z", t.year, t.month, t.day, t.hour, t.minute,
                     t.second, t.millisecond);
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto year_number = take_number(text, 4);
  if (!year_number || !take(text, '-')) return std::nullopt;
  const auto month_number = take_number(text, 2);
  if (!month_number || !take(text, '-')) return std::nullopt;
  const auto day_number = take_number(text, 2);
  if (!day_number || !(take(text, 'T') || take(text, 't'))) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  const auto fraction = take_fraction_ms(text);
  const auto offset = take_offset_minutes(text);
  const year_month_day date{year(*year_number), month(static_cast<unsigned>(*month_number)),
                            day(static_cast<unsigned>(*day_number))};
  if (!second || !fraction || !offset || !text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const auto at =
      sys_days(date) + hours(*hour) + minutes(*minute - *offset) + seconds(*second) + milliseconds(*fraction);
  return at.time_since_epoch().count();
}

}  // namespace braidmq::k8s

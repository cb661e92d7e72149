#include "api/row.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace braidmq::api {
namespace {

bool read_digits(std::string_view text, std::size_t at, std::size_t count, int& value) {
  if (text.size() < at + count) return false;
  const auto* const first = text.data() + at;
  const auto [end, code] = std::from_chars(first, first + count, value);
  return code == std::errc{} && end == first + count;
}

// Minutes east of Greenwich, from "Z" or "+01:00".
bool read_zone(std::string_view text, int& minutes) {
  if (text == "Z" || text == "z") return true;
  int hours = 0;
  int rest = 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
  if (!read_digits(text, 1, 2, hours) || !read_digits(text, 4, 2, rest) || hours < 0 || rest < 0) return false;
  minutes = (text[0] == '-' ? -1 : 1) * (hours * 60 + rest);
  return true;
}

}  // namespace

bool row::has_finalizer(std::string_view name) const {
  return std::ranges::find(finalizers, name) != finalizers.end();
}

bool row::is_set(std::string_view annotation) const {
  const auto* value = find(annotations, annotation);
  return value != nullptr && *value != "false";
}

void read_row(const json& object, row& target) {
  target.key = k8s::key_of(object);
  target.uid = k8s::uid_of(object);
  target.resource_version = k8s::resource_version_of(object);
  target.generation = k8s::generation_of(object);
  target.deleting = k8s::is_deleting(object);
  const reader meta(k8s::find(object, {"metadata"}), "metadata", target.problems);
  target.created_s = parse_time(meta.text("creationTimestamp"));
  if (target.deleting) target.deleted_s = parse_time(meta.text("deletionTimestamp"));
  target.finalizers = meta.texts("finalizers");
  for (auto& item : meta.texts_by_name("annotations")) {
    if (item.first.starts_with("braidmq.io/")) target.annotations.push_back(std::move(item));
  }
}

std::int64_t parse_time(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int zone = 0;
  const bool read = read_digits(text, 0, 4, year) && read_digits(text, 5, 2, month) && read_digits(text, 8, 2, day) &&
                    read_digits(text, 11, 2, hour) && read_digits(text, 14, 2, minute) &&
                    read_digits(text, 17, 2, second);
  if (!read || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':') return 0;
  auto rest = text.substr(19);
  if (rest.starts_with('.')) rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  if (!read_zone(rest, zone)) return 0;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || hour < 0 || minute < 0 || second < 0) return 0;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return std::int64_t{days} * 86'400 + hour * 3600 + (minute - zone) * 60 + second;
}

std::string format_time(std::int64_t seconds) {
  const std::chrono::sys_seconds at{std::chrono::seconds(seconds)};
  const auto days = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss time(at - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::string shorten(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view dots = "...";
  if (text.size() <= max_bytes) return std::string(text);
  auto end = max_bytes - std::min(max_bytes, dots.size());
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;  // inside a UTF-8 character
  return std::string(text.substr(0, end)).append(dots);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::uint64_t hash_of_document(const json& document) {
  return hash_of(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace braidmq::api

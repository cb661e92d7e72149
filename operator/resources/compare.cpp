#include "resources/compare.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/row.hpp"

namespace braidmq::resources {
namespace {

// A quantity as mantissa * 10^exponent10 * 2^exponent2, with the mantissa's trailing zeros gone into the exponent.
struct quantity {
  __int128 nano = 0;  // in units of 10^-9, as exact as the server keeps it
};

struct suffix {
  std::string_view text;
  int base = 10;
  int exponent = 0;
};

constexpr std::array suffixes = {
    suffix{"n", 10, -9}, suffix{"u", 10, -6}, suffix{"m", 10, -3}, suffix{"", 10, 0},
    suffix{"k", 10, 3},  suffix{"M", 10, 6},  suffix{"G", 10, 9},  suffix{"T", 10, 12},
    suffix{"P", 10, 15}, suffix{"E", 10, 18}, suffix{"Ki", 2, 10}, suffix{"Mi", 2, 20},
    suffix{"Gi", 2, 30}, suffix{"Ti", 2, 40}, suffix{"Pi", 2, 50}, suffix{"Ei", 2, 60},
};

std::optional<suffix> read_suffix(std::string_view text) {
  const auto found = std::ranges::find(suffixes, text, &suffix::text);
  if (found != suffixes.end()) return *found;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  int exponent = 0;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (code != std::errc{} || end != text.data() + text.size() || exponent < -9 || exponent > 18) return std::nullopt;
  return suffix{"", 10, exponent};
}

// Multiplies, or fails when it would not fit.
bool scale(__int128& value, int factor, int times) {
  constexpr auto limit = static_cast<__int128>(1) << 120;
  for (int i = 0; i < times; ++i) {
    if (value > limit / factor || value < -limit / factor) return false;
    value *= factor;
  }
  return true;
}

std::optional<quantity> parse_quantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = text.substr(0, end);
  const auto unit = read_suffix(text.substr(end));
  const auto point = number.find('.');
  const auto decimals = point == std::string_view::npos ? 0 : number.size() - point - 1;
  if (!unit || number.empty() || number == "." || number.size() > 28 || std::ranges::count(number, '.') > 1 ||
      decimals > 9)
    return std::nullopt;
  quantity read;
  for (const char c : number) {
    if (c != '.') read.nano = read.nano * 10 + (c - '0');
  }
  const int tens = 9 - static_cast<int>(decimals) + (unit->base == 10 ? unit->exponent : 0);
  const bool fits =
      scale(read.nano, 2, unit->base == 2 ? unit->exponent : 0) && scale(read.nano, 10, std::max(tens, 0));
  if (!fits) return std::nullopt;
  for (int i = tens; i < 0; ++i) read.nano = (read.nano + 9) / 10;  // the server rounds up
  if (negative) read.nano = -read.nano;
  return read;
}

bool is_empty(const json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

bool covers_object(const json& live, const json& wanted) {
  return std::ranges::all_of(wanted.items(), [&live](const auto& item) {
    const auto found = live.find(item.key());
    return found == live.end() ? is_empty(item.value()) : covers(*found, item.value());
  });
}

// The member by which the server tells the items of a list apart; null: the list is one value.
const char* list_key(const json& list) {
  for (const char* key : {"mountPath", "name"}) {
    const bool all =
        std::ranges::all_of(list, [key](const json& item) { return item.is_object() && item.contains(key); });
    if (all && !list.empty()) return key;
  }
  return nullptr;
}

bool covers_list(const json& live, const json& wanted) {
  const char* key = list_key(wanted);
  if (key == nullptr) return std::ranges::equal(live, wanted, covers);
  return std::ranges::all_of(wanted, [&](const json& item) {
    return std::ranges::any_of(live, [&](const json& there) {
      return there.is_object() && there.contains(key) && there.at(key) == item.at(key) && covers(there, item);
    });
  });
}

}  // namespace

void seal(json& object) {
  auto& annotations = object["metadata"]["annotations"];
  if (annotations.is_object())
    annotations.erase(std::string(applied_annotation));
  else
    annotations = json::object();
  const auto revision = revision_of(object);
  annotations[applied_annotation] = revision;
}

bool covers(const json& live, const json& wanted) {
  if (is_empty(wanted) && is_empty(live)) return true;
  if (wanted.is_object()) return live.is_object() && covers_object(live, wanted);
  if (wanted.is_array()) return live.is_array() && covers_list(live, wanted);
  if (wanted == live) return true;
  // A quantity may be written as a number; the server gives texts.
  if (wanted.is_number() && live.is_string())
    return equal_quantities(live.get_ref<const std::string&>(), wanted.dump());
  const auto* a = live.get_ptr<const std::string*>();
  const auto* b = wanted.get_ptr<const std::string*>();
  return a != nullptr && b != nullptr && equal_quantities(*a, *b);
}

bool equal_quantities(std::string_view a, std::string_view b) {
  return compare_quantities(a, b) == 0;
}

std::optional<int> compare_quantities(std::string_view a, std::string_view b) {
  const auto left = parse_quantity(a);
  const auto right = parse_quantity(b);
  if (!left || !right) return std::nullopt;
  return left->nano == right->nano ? 0 : (left->nano < right->nano ? -1 : 1);
}

std::string revision_of(const json& document) {
  return fmt::format("{:016x}", api::hash_of_document(document));
}

}  // namespace braidmq::resources

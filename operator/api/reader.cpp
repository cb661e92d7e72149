#include "api/reader.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace braidmq::api {

const std::string* find(const text_map& map, std::string_view key) {
  const auto found =
      std::ranges::lower_bound(map, key, {}, [](const auto& item) { return std::string_view(item.first); });
  return found != map.end() && found->first == key ? &found->second : nullptr;
}

reader::reader(const json* at, std::string path, std::vector<std::string>& problems)
    : at_(at), path_(std::move(path)), problems_(&problems) {
  if (at_ == nullptr || at_->is_object()) return;
  if (!at_->is_null()) wrong("", "an object");
  at_ = nullptr;
}

const json* reader::member(std::string_view name) const {
  if (at_ == nullptr) return nullptr;
  const auto found = at_->find(name);
  return found == at_->end() || found->is_null() ? nullptr : &*found;
}

void reader::wrong(std::string_view name, std::string_view expected) const {
  if (problems_->size() >= max_problems) return;
  problems_->push_back(
      fmt::format("{}{}{}: must be {}", path_, path_.empty() || name.empty() ? "" : ".", name, expected));
}

std::optional<std::string> reader::optional_text(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->get_ptr<const std::string*>()) return *text;
  wrong(name, "a text");
  return std::nullopt;
}

std::string reader::text(std::string_view name, std::string_view fallback) const {
  return optional_text(name).value_or(std::string(fallback));
}

std::optional<std::int64_t> reader::optional_number(std::string_view name, std::int64_t min, std::int64_t max) const {
  const auto* value = member(name);
  if (value == nullptr) return std::nullopt;
  // Unsigned numbers beyond int64 would wrap.
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t(INT64_MAX));
  if (fits && value->get<std::int64_t>() >= min && value->get<std::int64_t>() <= max) return value->get<std::int64_t>();
  wrong(name, fmt::format("a whole number from {} to {}", min, max));
  return std::nullopt;
}

std::int64_t reader::number(std::string_view name, std::int64_t fallback, std::int64_t min, std::int64_t max) const {
  return optional_number(name, min, max).value_or(fallback);
}

bool reader::flag(std::string_view name, bool fallback) const {
  const auto* value = member(name);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  wrong(name, "true or false");
  return fallback;
}

std::size_t reader::choice(std::string_view name, std::initializer_list<std::string_view> words,
                           std::size_t fallback) const {
  const auto* value = member(name);
  if (value == nullptr) return fallback;
  const auto* text = value->get_ptr<const std::string*>();
  const auto* found = text == nullptr ? words.end() : std::ranges::find(words, std::string_view(*text));
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  wrong(name, fmt::format("one of {}", fmt::join(words, ", ")));
  return fallback;
}

reader reader::object(std::string_view name) const {
  return reader(member(name), path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name), *problems_);
}

text_map reader::texts_by_name(std::string_view name) const {
  text_map map;
  const auto* value = member(name);
  if (value == nullptr) return map;
  if (!value->is_object()) {
    wrong(name, "an object of texts");
    return map;
  }
  map.reserve(value->size());
  for (const auto& [key, item] : value->items()) {  // in order of the keys
    if (const auto* text = item.get_ptr<const std::string*>())
      map.emplace_back(key, *text);
    else
      wrong(fmt::format("{}.{}", name, key), "a text");
  }
  return map;
}

std::vector<std::string> reader::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const auto* value = member(name);
  if (value == nullptr) return texts;
  if (!value->is_array()) {
    wrong(name, "a list of texts");
    return texts;
  }
  for (const auto& item : *value) {
    if (const auto* text = item.get_ptr<const std::string*>())
      texts.push_back(*text);
    else
      wrong(name, "a list of texts");
  }
  return texts;
}

void reader::each(std::string_view name, const std::function<void(const reader&)>& item) const {
  const auto* value = member(name);
  if (value == nullptr) return;
  if (!value->is_array()) return wrong(name, "a list");
  for (std::size_t i = 0; i < value->size(); ++i) {
    const reader one(&(*value)[i], fmt::format("{}{}{}[{}]", path_, path_.empty() ? "" : ".", name, i), *problems_);
    if (one.present()) item(one);
  }
}

json reader::raw_object(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr || value->is_object()) return value == nullptr ? json() : *value;
  wrong(name, "an object");
  return {};
}

json reader::raw_list(std::string_view name) const {
  const auto* value = member(name);
  if (value == nullptr || value->is_array()) return value == nullptr ? json() : *value;
  wrong(name, "a list");
  return {};
}

}  // namespace braidmq::api

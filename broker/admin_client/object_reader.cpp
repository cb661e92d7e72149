#include "admin_client/object_reader.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin_client/errc.hpp"
#include "admin_client/strict_json.hpp"

namespace braidmq::admin_client {

using nlohmann::json;

object_reader::object_reader(const json& from, std::string where) : from_(&from), where_(std::move(where)) {
  if (!from.is_object()) {
    state_ = fail(errc::invalid_request, fmt::format("{} must be an object", where_.empty() ? "the body" : where_));
  }
}

std::string object_reader::path(std::string_view name) const {
  return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
}

void object_reader::refuse(std::string_view name, std::string_view expected) {
  if (state_) state_ = fail(errc::invalid_request, fmt::format("\"{}\" {}", path(name), expected));
}

bool object_reader::has(std::string_view name) const {
  return from_->is_object() && from_->contains(name);
}

const json* object_reader::find(std::string_view name) {
  note(name);
  if (!state_) return nullptr;
  const auto found = from_->find(name);
  if (found == from_->end()) {
    refuse(name, "is missing");
    return nullptr;
  }
  return &*found;
}

void object_reader::read(std::string_view name, std::string& into) {
  const json* value = find(name);
  if (value == nullptr) return;
  if (!value->is_string()) return refuse(name, "must be a text");
  into = value->get_ref<const std::string&>();
}

void object_reader::read(std::string_view name, bool& into) {
  const json* value = find(name);
  if (value == nullptr) return;
  if (!value->is_boolean()) return refuse(name, "must be true or false");
  into = value->get<bool>();
}

template <class Int>
void object_reader::read_integer(std::string_view name, Int& into) {
  using limits = std::numeric_limits<Int>;
  const json* value = find(name);
  if (value == nullptr) return;
  bool fits = false;
  if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    fits = number <= static_cast<std::uint64_t>(limits::max());
    if (fits) into = static_cast<Int>(number);
  } else if (value->is_number_integer()) {
    const auto number = value->get<std::int64_t>();  // below zero, or it would be unsigned
    fits = limits::is_signed && number >= static_cast<std::int64_t>(limits::min());
    if (fits) into = static_cast<Int>(number);
  }
  if (!fits) refuse(name, fmt::format("must be a whole number from {} to {}", limits::min(), limits::max()));
}

void object_reader::read(std::string_view name, std::int32_t& into) {
  read_integer(name, into);
}
void object_reader::read(std::string_view name, std::uint16_t& into) {
  read_integer(name, into);
}
void object_reader::read(std::string_view name, std::uint64_t& into) {
  read_integer(name, into);
}

void object_reader::read(std::string_view name, std::vector<std::string>& into) {
  const json* value = find(name);
  if (value == nullptr) return;
  if (!value->is_array() || !std::ranges::all_of(*value, &json::is_string)) return refuse(name, "must be texts");
  for (const json& one : *value) into.push_back(one.get<std::string>());
}

void object_reader::read(std::string_view name, std::vector<std::int32_t>& into) {
  const json* value = find(name);
  if (value == nullptr) return;
  const auto fits = [](const json& one) {
    return one.is_number_integer() && one.get<std::int64_t>() >= std::numeric_limits<std::int32_t>::min() &&
           one.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max();
  };
  if (!value->is_array() || !std::ranges::all_of(*value, fits)) return refuse(name, "must be whole numbers");
  for (const json& one : *value) into.push_back(one.get<std::int32_t>());
}

void object_reader::read(std::string_view name, std::map<std::string, std::string>& into) {
  std::map<std::string, std::optional<std::string>> values;
  read(name, values);
  for (auto& [key, value] : values) {
    if (!value) return refuse(name, fmt::format("must hold texts, and {} is null", key));
    into.insert_or_assign(key, std::move(*value));
  }
}

void object_reader::read(std::string_view name, std::map<std::string, std::optional<std::string>>& into) {
  const json* value = find(name);
  if (value == nullptr) return;
  if (!value->is_object()) return refuse(name, "must be an object of texts");
  for (const auto& [key, one] : value->items()) {
    if (!one.is_string() && !one.is_null()) {
      return refuse(name, fmt::format("must hold texts, and {} is {}", key, to_text(one).substr(0, 40)));
    }
    into.insert_or_assign(key, one.is_null() ? std::nullopt : std::optional(one.get<std::string>()));
  }
}

std::size_t object_reader::list_size(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) return 0;
  if (!value->is_array()) {
    refuse(name, "must be a list");
    return 0;
  }
  return value->size();
}

object_reader object_reader::element(std::string_view name, std::size_t index) const {
  return {(*from_)[std::string(name)][index], fmt::format("{}[{}]", path(name), index)};
}

status object_reader::finish(bool strict) const {
  if (!state_) return tl::unexpected(state_.error());
  if (!strict) return {};
  for (const auto& [name, value] : from_->items()) {
    if (std::ranges::find(known_, name) == known_.end()) {
      return fail(errc::invalid_request, fmt::format("there is no member \"{}\"", path(name)));
    }
  }
  return {};
}

}  // namespace braidmq::admin_client

#include "model/topic_name.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace braidmq::model {
namespace {

bool is_legal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

status check_topic_name(std::string_view name) {
  if (name.empty()) return fail(errc::invalid_topic, "the name is empty");
  if (name == "." || name == "..") return fail(errc::invalid_topic, "the name may not be \".\" or \"..\"");
  if (name.size() > max_topic_name_length) {
    return fail(errc::invalid_topic,
                fmt::format("the name has {} characters, at most {} are allowed", name.size(), max_topic_name_length));
  }
  const auto bad = std::ranges::find_if_not(name, is_legal);
  if (bad != name.end()) {
    // The byte goes out as a number: it may be a control character, and messages end up in logs.
    return fail(errc::invalid_topic,
                fmt::format("byte 0x{:02x} at position {}: only ASCII letters, digits, '.', '_' and '-' are allowed",
                            static_cast<unsigned char>(*bad), bad - name.begin()));
  }
  return {};
}

std::string topic_collision_key(std::string_view name) {
  std::string key(name);
  std::ranges::replace(key, '.', '_');
  return key;
}

bool topic_names_collide(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return x == y || ((x == '.' || x == '_') && (y == '.' || y == '_')); });
}

}  // namespace braidmq::model

// Inside of app: the table of all configuration keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "config/config.hpp"

namespace braidmq::config {

struct key_spec {
  std::string_view name;
  std::variant<std::int64_t broker_config::*, bool broker_config::*, std::string broker_config::*> member;
  std::string_view default_value;
  std::string_view unit = {};  // for people: "bytes", "ms"
  std::int64_t min = 0;        // of numbers
  std::int64_t max = 0;
  std::string_view choices = {};  // of texts: "a|b"; empty: any
  std::string_view words;
};

std::span<const key_spec> key_table();
const key_spec* find_key(std::string_view name);

// The known key with the fewest edits, when it is near enough to be meant.
std::optional<std::string_view> nearest_key(std::string_view name);

// Sets the key's member, or says what is allowed: "must be a whole number from 1 to 100000 (bytes)".
std::optional<std::string> set_value(broker_config& target, const key_spec& key, const std::string& value);

}  // namespace braidmq::config

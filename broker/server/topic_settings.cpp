#include "server/topic_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace braidmq::server {
namespace {

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct config_rule {
  std::string_view name;
  std::int64_t min = 0;
  std::int64_t max = 0;       // min > max: not an integer
  std::string_view choice_a;  // otherwise one of two words
  std::string_view choice_b;
  std::string (*default_of)(const broker_options&);
};

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

const std::array<config_rule, 5> rules{{
    {"max.message.bytes", 0, int32_max, "", "",
     [](const broker_options& o) { return std::to_string(o.max_message_bytes); }},
    {"message.timestamp.after.max.ms", 0, int64_max, "", "",
     [](const broker_options& o) { return std::to_string(o.timestamp_after_max_ms); }},
    {"message.timestamp.before.max.ms", 0, int64_max, "", "",
     [](const broker_options& o) { return std::to_string(o.timestamp_before_max_ms); }},
    {"message.timestamp.type", 1, 0, "CreateTime", "LogAppendTime",
     [](const broker_options& o) { return std::string(o.log_append_time ? "LogAppendTime" : "CreateTime"); }},
    {"min.insync.replicas", 1, int32_max, "", "", [](const broker_options&) { return std::string("1"); }},
}};

const config_rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(rules, name, &config_rule::name);
  return found == rules.end() ? nullptr : &*found;
}

status check_value(const config_rule& rule, const std::string& value) {
  const auto invalid = std::make_error_code(std::errc::invalid_argument);
  if (rule.min > rule.max) {
    if (value == rule.choice_a || value == rule.choice_b) return {};
    return fail(invalid, fmt::format("{} is '{}'; it can be {} or {}", rule.name, value, rule.choice_a, rule.choice_b));
  }
  const auto number = parse_integer(value);
  if (number && *number >= rule.min && *number <= rule.max) return {};
  return fail(invalid,
              fmt::format("{} is '{}'; it takes an integer from {} to {}", rule.name, value, rule.min, rule.max));
}

}  // namespace

model::validation_limits topic_settings::validation(std::int64_t now_ms, bool allow_zstd) const {
  model::validation_limits limits;
  limits.max_batch_bytes = static_cast<std::size_t>(max_message_bytes);
  limits.allow_zstd = allow_zstd;
  limits.timestamps = timestamps;
  limits.now_ms = now_ms;
  limits.timestamp_before_max_ms = timestamp_before_max_ms;
  limits.timestamp_after_max_ms = timestamp_after_max_ms;
  return limits;
}

topic_settings settings_of(const metadata::topic_image& topic, const broker_options& defaults) {
  const auto text = [&topic](const char* name) {
    const auto found = topic.configs.find(name);
    return found == topic.configs.end() ? std::optional<std::string>() : std::optional(found->second);
  };
  const auto number = [&text](const char* name, std::int64_t otherwise) {
    const auto value = text(name);
    return value ? parse_integer(*value).value_or(otherwise) : otherwise;
  };
  topic_settings settings;
  settings.max_message_bytes = static_cast<std::int32_t>(number("max.message.bytes", defaults.max_message_bytes));
  settings.timestamp_before_max_ms = number("message.timestamp.before.max.ms", defaults.timestamp_before_max_ms);
  settings.timestamp_after_max_ms = number("message.timestamp.after.max.ms", defaults.timestamp_after_max_ms);
  settings.min_insync_replicas = static_cast<std::int32_t>(number("min.insync.replicas", 1));
  const std::string type = text("message.timestamp.type").value_or(defaults.log_append_time ? "LogAppendTime" : "");
  if (type == "LogAppendTime") settings.timestamps = model::timestamp_type::log_append_time;
  return settings;
}

status check_topic_configs(const std::map<std::string, std::string>& configs) {
  for (const auto& [name, value] : configs) {
    const config_rule* rule = find_rule(name);
    if (rule == nullptr) {
      std::string known;
      for (const config_rule& one : rules) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
      return fail(std::make_error_code(std::errc::invalid_argument),
                  fmt::format("topic config '{}' is not supported by this version; supported are: {}", name, known));
    }
    BRAID_TRY_VOID(check_value(*rule, value));
  }
  return {};
}

std::vector<shown_config> shown_configs(const std::map<std::string, std::string>& configs,
                                        const broker_options& defaults) {
  std::vector<shown_config> shown;
  shown.reserve(rules.size());
  for (const config_rule& rule : rules) {
    const auto set = configs.find(std::string(rule.name));
    const bool is_default = set == configs.end();
    shown.push_back({std::string(rule.name), is_default ? rule.default_of(defaults) : set->second, is_default});
  }
  return shown;
}

}  // namespace braidmq::server

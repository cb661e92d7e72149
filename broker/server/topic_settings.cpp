#include "server/topic_settings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "metadata/errc.hpp"
#include "server/topic_config_table.hpp"

namespace braidmq::server {
namespace {

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t integer_of(const braid::config_values& configs, const char* name, std::int64_t otherwise) {
  const auto set = configs.find(name);
  return set == configs.end() ? otherwise : parse_integer(set->second).value_or(otherwise);
}

}  // namespace

model::validation_limits topic_settings::validation(std::int64_t now_ms, bool allow_zstd) const {
  model::validation_limits limits;
  limits.max_batch_bytes = static_cast<std::size_t>(max_message_bytes);
  limits.max_decoded_bytes = std::max(limits.max_decoded_bytes, 4 * limits.max_batch_bytes);
  limits.allow_zstd = allow_zstd;
  limits.timestamps = timestamps;
  limits.now_ms = now_ms;
  limits.timestamp_before_max_ms = timestamp_before_max_ms;
  limits.timestamp_after_max_ms = timestamp_after_max_ms;
  return limits;
}

storage::segment_bounds segments_of(const braid::config_values& configs, const broker_options& defaults) {
  const storage::segment_bounds& otherwise = defaults.log.segments;
  return {static_cast<std::uint64_t>(integer_of(configs, "segment.bytes", static_cast<std::int64_t>(otherwise.bytes))),
          integer_of(configs, "segment.ms", otherwise.ms)};
}

braid::retention_policy retention_of(const braid::config_values& configs, const broker_options& defaults) {
  const auto policy = configs.find("cleanup.policy");
  const auto words = policy == configs.end() ? std::vector<std::string>{"delete"} : words_of(policy->second);
  // A compacted topic keeps everything as long as there is no compaction.
  if (std::ranges::find(words, "delete") == words.end()) return {};
  braid::retention_policy kept;
  const std::int64_t keep_ms = integer_of(configs, "retention.ms", defaults.retention_ms);
  const std::int64_t keep_bytes = integer_of(configs, "retention.bytes", defaults.retention_bytes);
  if (keep_ms >= 0) kept.keep_ms = keep_ms;
  if (keep_bytes >= 0) kept.keep_bytes = static_cast<std::uint64_t>(keep_bytes);
  return kept;
}

topic_settings settings_of(const metadata::topic_image& topic, const broker_options& defaults) {
  const auto text = [&topic](const char* name) {
    if (topic.configs.empty()) return std::optional<std::string>();  // as most are, and each write asks
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
  settings.atomic = text("produce.atomic").value_or(defaults.atomic_produce ? "true" : "false") == "true";
  const std::string type = text("message.timestamp.type").value_or(defaults.log_append_time ? "LogAppendTime" : "");
  if (type == "LogAppendTime") settings.timestamps = model::timestamp_type::log_append_time;
  return settings;
}

status check_topic_configs(const std::map<std::string, std::string>& configs, std::int32_t replication_factor) {
  for (const auto& [name, value] : configs) {
    const topic_config_rule* rule = find_topic_config(name);
    if (rule == nullptr) return unknown_topic_config(name);
    BRAID_TRY_VOID(check_topic_config(*rule, value, replication_factor));
  }
  return {};
}

tl::unexpected<error> unknown_topic_config(const std::string& name) {
  constexpr std::size_t shown_bytes = 100;
  const auto nearest = nearest_topic_config(name);
  return fail(metadata::errc::invalid_config,
              fmt::format("'{}' is no config of topics{}", name.substr(0, shown_bytes),
                          nearest ? fmt::format("; did you mean '{}'?", *nearest) : std::string()));
}

std::vector<shown_config> shown_configs(const std::map<std::string, std::string>& configs,
                                        const broker_options& defaults) {
  std::vector<shown_config> shown;
  shown.reserve(topic_config_rules().size());
  for (const topic_config_rule& rule : topic_config_rules()) {
    shown_config& one = shown.emplace_back();
    one.rule = &rule;
    const auto set = configs.find(std::string(rule.name));
    if (set != configs.end()) one.synonyms.push_back({std::string(rule.name), set->second, config_source::topic});
    const std::string otherwise = rule.default_of(defaults);
    if (rule.broker_value != nullptr && otherwise != rule.default_value) {
      one.synonyms.push_back({std::string(rule.broker_name), otherwise, config_source::broker});
    }
    const std::string_view known_as = rule.broker_name.empty() ? rule.name : rule.broker_name;
    one.synonyms.push_back({std::string(known_as), std::string(rule.default_value), config_source::kafka_default});
  }
  return shown;
}

}  // namespace braidmq::server

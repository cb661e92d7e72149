// Every config that a topic can have: Apache Kafka 4.4's names, with its types, ranges and defaults, and one of ours.
// What this version does not act upon yet is accepted, checked, stored and shown all the same (`acts` says which is
// which), so that tools and manifests written for Kafka work.
//
// Pure and immutable: any thread. Source: ConfigDef of Kafka's LogConfig, as it prints itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "server/broker.hpp"

namespace braidmq::server {

// The numbers are those of DescribeConfigs.
enum class config_type : std::int8_t { boolean = 1, word = 2, int32 = 3, int64 = 5, fraction = 6, list = 7 };

struct topic_config_rule {
  std::string_view name;
  config_type type;
  std::int64_t min = 0;  // int32, int64; a fraction is 0..1
  std::int64_t max = 0;
  std::string_view words;          // word, list: what it can be, separated by '|'; empty in a list: replicas
  std::string_view default_value;  // Kafka's, of its own names
  bool acts = false;               // this version goes by it
  std::string_view about;
  // Where a broker's own setting is the default: its name, and its value.
  std::string_view broker_name = {};
  std::string (*broker_value)(const broker_options&) = nullptr;

  std::string default_of(const broker_options& options) const {
    return broker_value != nullptr ? broker_value(options) : std::string(default_value);
  }
};

std::span<const topic_config_rule> topic_config_rules();  // by rising name
const topic_config_rule* find_topic_config(std::string_view name);

// The known name that is most like an unknown one; none when nothing is like it.
std::optional<std::string_view> nearest_topic_config(std::string_view name);

// metadata::errc::invalid_config, in words.
status check_topic_config(const topic_config_rule& rule, const std::string& value, std::int32_t replication_factor);

// Words of a list: "a, b" is a and b, "" is none.
std::vector<std::string> words_of(std::string_view list);

}  // namespace braidmq::server

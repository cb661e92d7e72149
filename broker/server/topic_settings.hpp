// The configuration of one topic: what its own configs say, else the broker's defaults. The names, types and ranges are
// those of topic_config_table.hpp; anything else is refused before it is stored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/batch_validator.hpp"
#include "server/broker.hpp"
#include "server/topic_config_table.hpp"

namespace braidmq::server {

struct topic_settings {
  std::int32_t max_message_bytes = 0;
  model::timestamp_type timestamps = model::timestamp_type::create_time;
  std::int64_t timestamp_before_max_ms = 0;
  std::int64_t timestamp_after_max_ms = 0;
  bool atomic = false;  // slices of a request that go to such topics are written together or not at all
  std::int32_t min_insync_replicas = 1;  // stored and shown; for a braid it is the majority

  model::validation_limits validation(std::int64_t now_ms, bool allow_zstd) const;
};

// What the configs of a topic say of its old records.
braid::retention_policy retention_of(const braid::config_values& configs, const broker_options& defaults);

// Where its segments end.
storage::segment_bounds segments_of(const braid::config_values& configs, const broker_options& defaults);

topic_settings settings_of(const metadata::topic_image& topic, const broker_options& defaults);

// Names the first config that is unknown, with the nearest known name, or has a bad value:
// metadata::errc::invalid_config.
status check_topic_configs(const std::map<std::string, std::string>& configs, std::int32_t replication_factor);
tl::unexpected<error> unknown_topic_config(const std::string& name);

// The numbers are those of CreateTopics and DescribeConfigs.
enum class config_source : std::int8_t { topic = 1, broker = 4, kafka_default = 5 };

struct config_synonym {
  std::string name;
  std::string value;
  config_source source;
};

// One config as CreateTopics and DescribeConfigs show it.
struct shown_config {
  const topic_config_rule* rule = nullptr;
  std::vector<config_synonym> synonyms;  // never empty; what counts comes first

  const std::string& value() const { return synonyms.front().value; }
  config_source source() const { return synonyms.front().source; }
};
std::vector<shown_config> shown_configs(const std::map<std::string, std::string>& configs,
                                        const broker_options& defaults);

}  // namespace braidmq::server

// The configuration of one topic: what its own configs say, else the broker's defaults. Only what this version honours
// can be set; anything else is refused when the topic is created, never stored and forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "model/batch_validator.hpp"
#include "server/broker.hpp"

namespace braidmq::server {

struct topic_settings {
  std::int32_t max_message_bytes = 0;
  model::timestamp_type timestamps = model::timestamp_type::create_time;
  std::int64_t timestamp_before_max_ms = 0;
  std::int64_t timestamp_after_max_ms = 0;
  std::int32_t min_insync_replicas = 1;  // stored and shown; for a braid it is the majority

  model::validation_limits validation(std::int64_t now_ms, bool allow_zstd) const;
};

topic_settings settings_of(const metadata::topic_image& topic, const broker_options& defaults);

// Names the first config that is unknown, not supported yet or has a bad value.
status check_topic_configs(const std::map<std::string, std::string>& configs);

// One config as CreateTopics and DescribeConfigs show it.
struct shown_config {
  std::string name;
  std::string value;
  bool is_default = true;
};
std::vector<shown_config> shown_configs(const std::map<std::string, std::string>& configs,
                                        const broker_options& defaults);

}  // namespace braidmq::server

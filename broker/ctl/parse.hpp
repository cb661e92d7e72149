// What users write as arguments.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka_client/consume.hpp"
#include "kafka_client/produce.hpp"

namespace braidmq::ctl {

// "500ms", "120s", "2m": a whole number and its unit.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "key=value"; nothing when one has another form or a key is given twice.
std::optional<std::map<std::string, std::string>> parse_configs(const std::vector<std::string>& texts);

// "topic=value" and "topic:3=value"; nothing for another form. An empty value is one.
std::optional<kafka_client::outgoing_record> parse_record(std::string_view text);
// "topic<TAB>key<TAB>value"; an empty key is none, further tabs belong to the value.
std::optional<kafka_client::outgoing_record> parse_line(std::string_view line);
// "TOPIC" or "TOPIC:PARTITION".
struct topic_argument {
  std::string name;
  std::optional<std::int32_t> partition;
};
std::optional<topic_argument> parse_topic(std::string_view text);

// Where to begin: "earliest", "latest", an offset, a time like "2026-11-30T12:00:00Z" or "2026-11-30T12:00:00.250Z"
// (UTC), or how long ago: "10m".
std::optional<kafka_client::start_position> parse_start(std::string_view text, std::int64_t now_ms);

// "host:port" -> "http://host:port"; what has a scheme stays.
std::string url_of(const std::string& text);

}  // namespace braidmq::ctl

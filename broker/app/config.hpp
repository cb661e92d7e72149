// The configuration of a broker: one flat YAML map of dotted keys, Kafka's names where Kafka has them, ours under
// braid. and wal. - read strictly: a key that is unknown or given twice, a wrong type, a value out of range are errors
// with their place. Nothing is read after start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_errc.hpp"
#include "app/listeners.hpp"
#include "base/result.hpp"

namespace braidmq::app {

// Members in the order of the keys in config_schema.cpp, which holds defaults, ranges and words.
struct config {
  std::int64_t broker_id = 0;
  std::string cluster_id;
  std::string data_dir;
  std::string wal_dir;  // never empty: data.dir + "/wal" when not given
  std::string listeners_text;
  std::string advertised_listeners_text;
  std::string admin_listener_text;
  std::vector<listener> listeners;
  std::vector<listener> advertised_listeners;  // one for each of listeners; port 0 where that has 0
  net::endpoint admin_listener;

  std::int64_t num_partitions = 0;
  bool auto_create_topics = false;
  std::int64_t message_max_bytes = 0;
  std::int64_t socket_request_max_bytes = 0;
  std::int64_t fetch_max_bytes = 0;
  std::int64_t connections_max_idle_ms = 0;
  std::int64_t max_connections = 0;
  std::int64_t max_connections_per_ip = 0;
  std::int64_t log_segment_bytes = 0;
  std::int64_t log_index_interval_bytes = 0;
  std::string log_message_timestamp_type;
  std::int64_t log_message_timestamp_before_max_ms = 0;
  std::int64_t log_message_timestamp_after_max_ms = 0;

  std::int64_t wal_file_bytes = 0;
  std::int64_t linger_ms = 0;
  std::int64_t entry_max_bytes = 0;
  std::int64_t write_behind_max_bytes = 0;
  std::int64_t shards = 0;  // 0: as many as the CPU quota allows

  std::string log_level;
  std::string log_format;
};

// `name` stands before the place in errors: "broker.yaml:3:1: ...". `overrides`: "key=value", as given by --set; they
// win over the text, the last of the same key over those before.
result<config> parse_config(std::string_view text, const std::string& name, const std::vector<std::string>& overrides);

// The same from a file; an empty path means no file: defaults and overrides only.
result<config> load_config(const std::string& path, const std::vector<std::string>& overrides);

// All keys with their defaults and words, as a YAML file that says what the defaults say.
std::string print_defaults();

}  // namespace braidmq::app

// The configuration of a broker, for the broker and for the operator that writes it: one flat YAML map of dotted keys,
// Kafka's names where Kafka has them, ours under braid. and wal. - read strictly: a key that is unknown or given twice,
// a wrong type, a value out of range are errors with their place. Nothing is read after start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/errc.hpp"
#include "config/listeners.hpp"
#include "config/voters.hpp"

namespace braidmq::config {

// Members in the order of the keys in config_schema.cpp, which holds defaults, ranges and words.
struct broker_config {
  std::int64_t broker_id = 0;  // braid.broker.id.offset is in it
  std::int64_t broker_id_offset = 0;
  std::string cluster_id;
  std::string bootstrap;  // initial or existing
  std::string voters_text;
  std::string braid_voters_text;
  std::string controller_listener_text;
  std::string braid_listener_text;
  std::vector<voter> voters;  // by rising id; empty: this broker is the only one
  io::endpoint controller_listener;
  io::endpoint braid_listener;
  std::int64_t heartbeat_ms = 0;
  std::int64_t election_timeout_ms = 0;
  std::string rack;
  std::string replica_selector;  // one of the key's choices
  std::string data_dir;
  std::string wal_dir;  // never empty: data.dir + "/wal" when not given
  std::string listeners_text;
  std::string advertised_listeners_text;
  std::string admin_listener_text;
  std::vector<listener> listeners;
  std::vector<listener> advertised_listeners;  // those whose address is fixed; port 0 where listeners has 0
  std::string pushed_text;
  std::vector<std::string> pushed_listeners;  // names of those whose address is told at run time
  std::string secret_file;
  io::endpoint admin_listener;

  std::int64_t num_partitions = 0;
  bool auto_create_topics = false;
  std::int64_t message_max_bytes = 0;
  std::int64_t socket_request_max_bytes = 0;
  std::int64_t fetch_max_bytes = 0;
  std::int64_t fetch_session_slots = 0;
  std::int64_t connections_max_idle_ms = 0;
  std::int64_t max_connections = 0;
  std::int64_t max_connections_per_ip = 0;
  std::int64_t log_segment_bytes = 0;
  std::int64_t log_roll_ms = 0;
  std::int64_t log_retention_ms = 0;
  std::int64_t log_retention_bytes = 0;
  std::int64_t log_retention_check_interval_ms = 0;
  std::int64_t producer_id_expiration_ms = 0;
  std::int64_t producer_id_expiration_check_interval_ms = 0;
  std::int64_t log_index_interval_bytes = 0;
  std::string log_message_timestamp_type;
  std::int64_t log_message_timestamp_before_max_ms = 0;
  std::int64_t log_message_timestamp_after_max_ms = 0;
  bool atomic_produce = false;

  std::int64_t wal_file_bytes = 0;
  std::int64_t linger_ms = 0;
  std::int64_t entry_max_bytes = 0;
  std::int64_t write_behind_max_bytes = 0;
  std::int64_t disk_reserve_bytes = 0;
  std::int64_t checkpoint_bytes = 0;
  std::int64_t checkpoint_interval_ms = 0;
  std::int64_t shards = 0;  // 0: as many as the CPU quota allows

  std::string log_level;
  std::string log_format;
};

// `name` stands before the place in errors: "broker.yaml:3:1: ...". `overrides`: "key=value", as given by --set; they
// win over the text, the last of the same key over those before.
result<broker_config> parse_config(std::string_view text, const std::string& name,
                                   const std::vector<std::string>& overrides);

// The same from a file; an empty path means no file: defaults and overrides only.
result<broker_config> load_config(const std::string& path, const std::vector<std::string>& overrides);

// One thing that is wrong with a map of keys and values, in words that name what is allowed.
struct problem {
  std::string key;  // empty: of several keys together; the words name them
  std::error_code code;
  std::string words;
};

// Everything that is wrong with what is to become a configuration, for whoever writes one for brokers. What is not
// given counts as its default, and data.dir as given.
std::vector<problem> check_values(const std::map<std::string, std::string>& values);

// All keys with their defaults and words, as a YAML file that says what the defaults say.
std::string print_defaults();

}  // namespace braidmq::config

// What a broker's HTTP API takes and gives, as values. Names are those of the JSON members (broker/docs/http-api.md);
// ids stand in Kafka's text form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace braidmq::admin_client {

struct listener_info {
  std::string name;
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const listener_info&, const listener_info&) = default;
};

struct broker_info {
  std::int32_t id = 0;
  std::string incarnation;
  bool alive = false;
  bool draining = false;
  std::vector<listener_info> listeners;  // those whose advertised address is known
  std::string rack;                      // empty: it does not say
  std::vector<std::string> roles;        // "controller": leads the metadata quorum; "leader", "replica": of a braid
  friend bool operator==(const broker_info&, const broker_info&) = default;
};

// How far another replica is, as the leader knows it.
struct peer_info {
  std::int32_t id = 0;
  std::uint64_t match_index = 0;
  bool needs_snapshot = false;
  friend bool operator==(const peer_info&, const peer_info&) = default;
};

struct braid_info {
  std::int32_t id = 0;
  std::int32_t leader = -1;  // -1: none is known
  std::uint64_t term = 0;
  std::uint64_t commit_index = 0;
  std::uint64_t applied_index = 0;
  std::uint64_t visible_index = 0;
  std::vector<std::int32_t> replicas;
  std::vector<peer_info> peers;  // of the leader's answer alone
  friend bool operator==(const braid_info&, const braid_info&) = default;
};

struct cluster_info {
  std::string cluster_id;           // empty: not founded yet
  std::string version;              // of the broker that answers
  std::int32_t broker_id = 0;       // of the broker that answers
  std::int32_t controller_id = -1;  // -1: none is known
  std::uint64_t metadata_index = 0;
  std::int32_t replication_factor = 0;
  std::vector<broker_info> brokers;
  std::vector<braid_info> braids;
  friend bool operator==(const cluster_info&, const cluster_info&) = default;
};

struct topic_info {
  std::string name;
  std::string id;
  std::int32_t partitions = 0;
  std::int32_t replication_factor = 0;
  std::map<std::string, std::string> configs;  // only those that were set
  std::uint64_t created_index = 0;             // of the entries of the metadata log
  std::uint64_t changed_index = 0;
  friend bool operator==(const topic_info&, const topic_info&) = default;
};

// Topics by rising name. `next` is the name to go on after.
struct topic_page {
  std::uint64_t metadata_index = 0;
  std::vector<topic_info> topics;
  std::optional<std::string> next;
};

struct topic_creation {
  std::string name;
  std::int32_t partitions = -1;          // -1: the broker's default
  std::int32_t replication_factor = -1;  // -1: the braid's
  std::map<std::string, std::string> configs;
  bool validate_only = false;
};

struct topic_change {
  std::string name;
  std::optional<std::string> id;           // precondition: unknown_topic_id when the topic has another
  std::optional<std::int32_t> partitions;  // may only grow
  std::map<std::string, std::optional<std::string>> configs;  // nothing: back to the default
  bool validate_only = false;
};

struct drain_state {
  bool draining = false;
  bool last_broker = false;      // nobody could take over: stopping at once costs no more than waiting
  std::int32_t leaderships = 0;  // that this broker still holds and could hand over
  friend bool operator==(const drain_state&, const drain_state&) = default;
};

// Of /readyz. A broker that answers "not ready" is no failure of the call.
struct readiness {
  bool ready = false;
  std::vector<std::string> reasons;  // why not, in words
};

}  // namespace braidmq::admin_client

// The commands of the metadata log. On disk they are the records `Metadata…` of protocol/schema.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "metadata/registration.hpp"
#include "model/ids.hpp"

namespace braidmq::metadata {

// The first command of a new cluster. Applied again with another id it changes nothing: a cluster is born once.
struct found_cluster {
  uuid cluster_id;
  friend bool operator==(const found_cluster&, const found_cluster&) = default;
};

// A broker in one life takes its id. The same life again replaces what it said before; another incarnation under a
// claimed id is refused.
struct register_broker {
  model::broker_id broker;
  broker_registration registration;
  friend bool operator==(const register_broker&, const register_broker&) = default;
};

struct create_topic {
  std::string name;
  model::topic_id id;
  std::int32_t partitions = 0;
  std::map<std::string, std::string> configs;
  friend bool operator==(const create_topic&, const create_topic&) = default;
};

// More partitions, other configs: all of it, or nothing when it cannot be.
struct alter_topic {
  model::topic_id id;
  std::int32_t partitions = 0;                                // the new count; 0: as many as there are
  std::map<std::string, std::optional<std::string>> configs;  // none: unset
  friend bool operator==(const alter_topic&, const alter_topic&) = default;
};

struct delete_topic {
  model::topic_id id;
  friend bool operator==(const delete_topic&, const delete_topic&) = default;
};

// Takes the next block of producer ids for a broker.
struct allocate_producer_ids {
  model::broker_id broker;
  friend bool operator==(const allocate_producer_ids&, const allocate_producer_ids&) = default;
};

// Every braid has applied the deletions of all entries up to `through`.
struct forget_deletions {
  std::uint64_t through = 0;
  friend bool operator==(const forget_deletions&, const forget_deletions&) = default;
};

using command = std::variant<found_cluster, register_broker, create_topic, allocate_producer_ids, alter_topic,
                             delete_topic, forget_deletions>;

bytes encode(const command& command);
result<command> decode(const bytes& payload);

}  // namespace braidmq::metadata

// Topics as an administrator sees them: made, grown, configured, removed, listed. The one way to do it, for the Kafka
// APIs and for the HTTP API alike; whoever calls it has authorised and bounded the request.
//
// Threads: every function may be called from any thread. `done` runs once, later and never inside the call, on the
// metadata executor or the braid's: callers hop back to their own, and never block there. The object lives as long as
// the broker; a call that is under way when the broker stops is answered (not_controller or stopped).
//
// A change is answered when the braid of this broker has applied it: what was created can be written to, what was
// removed answers UNKNOWN_TOPIC_OR_PARTITION. After timed_out the outcome is unknown: it may still happen.
//
// Errors: codes of metadata::errc and braid::errc; `wire_error(code)` (server/error_mapping.hpp) is Kafka's error, and
// `protocol::to_string` of that its name. The message says in words what to do. Every change can fail with
// NOT_CONTROLLER, NOT_LEADER_OR_FOLLOWER (the braid has no leader here), REQUEST_TIMED_OUT, and as each function says.
// Source: KIP-4, KIP-195, KIP-339, KIP-516 (what CreateTopics, CreatePartitions, IncrementalAlterConfigs, DeleteTopics
// promise).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/clock.hpp"
#include "metadata/image.hpp"
#include "model/ids.hpp"

namespace braidmq::server {

class broker;

struct topic_description {
  std::string name;
  model::topic_id id;  // zero: validated only, not made
  std::int32_t partitions = 0;
  std::int32_t replication_factor = 0;         // the braid's
  std::map<std::string, std::string> configs;  // those that are set on the topic
  std::uint64_t created_index = 0;             // entries of the metadata log
  std::uint64_t changed_index = 0;  // the last one that changed partitions or configs; created_index at first
};

struct topic_creation {
  std::string name;
  std::int32_t partitions = -1;          // -1: the broker's default
  std::int32_t replication_factor = -1;  // -1: the braid's
  std::map<std::string, std::string> configs;
  bool validate_only = false;
};

struct topic_alteration {
  std::string name;
  std::optional<model::topic_id> id;       // precondition: the topic of that name has this id
  std::optional<std::int32_t> partitions;  // the new count: equal changes nothing, smaller is refused
  std::map<std::string, std::optional<std::string>> configs;  // none: unset, back to the default
  bool validate_only = false;
};

struct topic_page {
  std::uint64_t metadata_index = 0;
  std::vector<topic_description> topics;  // by rising name
  std::optional<std::string> next;        // to be given as `after`; none: this was the last page
};

class topic_admin {
 public:
  using described = unique_function<void(result<topic_description>)>;

  explicit topic_admin(broker& owner) : broker_(owner) {}

  // TOPIC_ALREADY_EXISTS, INVALID_TOPIC_EXCEPTION, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_CONFIG.
  void create(topic_creation wanted, io::duration timeout, described done);

  // UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID (the precondition), INVALID_PARTITIONS, INVALID_CONFIG. All of it is
  // done, or nothing. What is so already changes nothing, and changed_index stays.
  void alter(topic_alteration wanted, io::duration timeout, described done);

  // UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID (the precondition). Gives the topic as it was.
  void remove(std::string name, std::optional<model::topic_id> id, io::duration timeout, described done);
  // UNKNOWN_TOPIC_ID.
  void remove(const model::topic_id& id, io::duration timeout, described done);

  // Of the metadata log as this broker has applied it: after a start, until controller().is_current(), topics are
  // missing that exist. (The changes above wait for that by themselves.)
  std::optional<topic_description> get(std::string_view name) const;
  std::optional<topic_description> get(const model::topic_id& id) const;
  // Topics with names above `after` (empty: from the first), at most `limit`, which is taken as 1..1000.
  topic_page list(std::string_view after, std::size_t limit) const;

 private:
  // On the metadata executor, with an image that holds all that was acknowledged.
  void create_now(topic_creation wanted, io::time_point deadline, described done);
  void alter_now(topic_alteration wanted, io::time_point deadline, described done);
  void remove_now(const model::topic_id& id, io::time_point deadline, described done);

  broker& broker_;
};

}  // namespace braidmq::server

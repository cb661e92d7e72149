// Topic (topics.braidmq.io): a topic of a BraidCluster as its owners want it. There may be thousands: the row keeps the
// typed fields and nothing of the document.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "api/conditions.hpp"
#include "api/row.hpp"

namespace braidmq::api {

extern const k8s::resource_type topic_type;
inline constexpr std::string_view topic_finalizer = "braidmq.io/topic";

enum class management : std::uint8_t { managed, observe, paused };
enum class deletion_policy : std::uint8_t { retain, remove };

struct topic : row {
  // spec
  std::string cluster;     // clusterRef.name, in the same namespace
  std::string topic_name;  // spec.topicName, else the object's name
  std::optional<std::int32_t> partitions;
  std::optional<std::int32_t> replication_factor;
  text_map configs;  // spec.config and the fields that are configs, by Kafka's keys
  api::management management = management::managed;
  api::deletion_policy deletion_policy = deletion_policy::retain;

  // status as last written
  std::string topic_id;
  std::int64_t metadata_index = 0;
  json figures;  // id, index, partitions, replication factor and config, for when the broker cannot be asked
  condition_list conditions;
  std::uint64_t status_hash = 0;

  k8s::object_key cluster_key() const { return {key.namespace_name, cluster}; }
  // Topics are looked for by their cluster, and by what they call a topic of it.
  std::tuple<std::string_view, std::string_view, std::string_view> index_key() const {
    return {key.namespace_name, cluster, topic_name};
  }
};

topic read_topic(const json& object);

}  // namespace braidmq::api

// BraidCluster (braidclusters.braidmq.io): what all brokers of a cluster share.
#pragma once

#include <optional>

#include "api/conditions.hpp"
#include "api/row.hpp"
#include "api/topic.hpp"

namespace braidmq::api {

extern const k8s::resource_type cluster_type;
inline constexpr std::string_view cluster_finalizer = "braidmq.io/cluster";  // only with deletionPolicy Delete

enum class listener_kind : std::uint8_t { internal, node_port };

struct cluster_listener {
  std::string name;  // as in the CR; the broker's name is in capitals
  std::int32_t port = 0;
  listener_kind kind = listener_kind::internal;
  // Of node ports. 0: the API server chooses.
  std::int32_t bootstrap_node_port = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> node_ports;  // broker id, port
  std::string advertised_host;                                    // empty: the address of the pod's node

  std::int32_t node_port_of(std::int32_t broker) const;
};

struct braid_cluster : row {
  // spec
  std::string image;  // empty: the operator's default
  std::string image_pull_policy;
  std::vector<std::string> image_pull_secrets;
  std::vector<cluster_listener> listeners;
  text_map config;
  std::optional<std::int64_t> braid_replicas;  // how many brokers vote; nothing: as many as suit, 3 or 1
  bool pod_monitor = true;
  text_map pod_monitor_labels;
  std::optional<std::int64_t> scrape_interval_s;
  bool network_policy = true;
  bool budget = true;  // disruption.mode is not Disabled
  std::int64_t grace_s = 150;
  std::int64_t drain_timeout_s = 120;
  api::deletion_policy deletion_policy = deletion_policy::retain;
  bool paused = false;  // spec.paused or the annotation

  // status as last written
  std::string cluster_id;
  condition_list conditions;
  std::uint64_t status_hash = 0;
  json status;  // whole: last known values stay while a broker cannot be asked
};

braid_cluster read_cluster(const json& object);

}  // namespace braidmq::api

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
  std::int32_t node_port = 0;  // wanted; 0: the API server chooses
};

struct braid_cluster : row {
  // spec
  std::string version_text;
  std::string image;  // empty: the operator's own, with tag spec.version
  std::string image_pull_policy;
  std::vector<std::string> image_pull_secrets;
  std::vector<cluster_listener> listeners;
  text_map config;
  std::int64_t braids = 1;
  bool pod_monitor = false;
  bool network_policy = true;
  bool budget = true;  // disruption.mode is not Disabled
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

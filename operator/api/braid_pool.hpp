// BraidPool (braidpools.braidmq.io): brokers of one cluster that are alike: zone, disks, size. One StatefulSet each.
#pragma once

#include "api/conditions.hpp"
#include "api/row.hpp"
#include "api/topic.hpp"

namespace braidmq::api {

extern const k8s::resource_type pool_type;

struct volume_claim {
  std::string size;  // a quantity: "10Gi"
  std::optional<std::string> storage_class;
};

// How brokers keep apart on nodes: must (a second one on a node stays Pending), should, or need not.
enum class node_spread : std::uint8_t { required, preferred, none };

struct pool_template {
  text_map labels;
  text_map annotations;
  text_map node_selector;
  json tolerations;  // lists and objects of Kubernetes, passed on unread
  json affinity;     // beside ours
  json topology_spread;
  json env;
  std::string priority_class;
  std::string service_account;
};

struct braid_pool : row {
  // spec
  std::string cluster;
  std::int32_t replicas = 1;
  std::string zone;
  volume_claim storage;
  std::optional<volume_claim> wal_storage;
  json resources;
  node_spread spread = node_spread::required;
  pool_template pod;
  deletion_policy reclaim = deletion_policy::retain;

  // status as last written
  condition_list conditions;
  std::uint64_t status_hash = 0;

  k8s::object_key cluster_key() const { return {key.namespace_name, cluster}; }
};

braid_pool read_pool(const json& object);

}  // namespace braidmq::api

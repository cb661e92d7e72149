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

// Brokers of a cluster keep apart on nodes and over zones: must (what finds no place stays Pending), should, or need
// not.
enum class spread : std::uint8_t { required, preferred, none };

struct pool_template {
  text_map labels;
  text_map annotations;
  text_map node_selector;
  json tolerations;  // a list of Kubernetes' objects, passed on unread
  spread nodes = spread::required;
  spread zones = spread::preferred;
  std::string priority_class;
};

struct braid_pool : row {
  // spec
  std::string cluster;
  std::int32_t replicas = 1;
  std::int32_t index = 0;  // broker ids are index x 1000 + ordinal
  std::string zone;
  volume_claim storage;
  std::optional<volume_claim> wal_storage;
  json resources;
  pool_template pod;
  deletion_policy reclaim = deletion_policy::retain;

  // status as last written
  condition_list conditions;
  std::uint64_t status_hash = 0;

  k8s::object_key cluster_key() const { return {key.namespace_name, cluster}; }
};

braid_pool read_pool(const json& object);

}  // namespace braidmq::api

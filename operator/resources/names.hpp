// Names, labels and paths of everything that belongs to a cluster. They never change between versions: a selector of a
// StatefulSet and the name of a claim are for ever.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/braid_cluster.hpp"
#include "api/braid_pool.hpp"

namespace braidmq::resources {

using k8s::json;

inline constexpr std::string_view cluster_label = "braidmq.io/cluster";
inline constexpr std::string_view pool_label = "braidmq.io/pool";
inline constexpr std::string_view managed_by = "braidmq-operator";
inline constexpr std::string_view managed_by_selector = "app.kubernetes.io/managed-by=braidmq-operator";
inline constexpr std::string_view config_annotation = "braidmq.io/config-hash";  // of pods: what they were started with
inline constexpr std::string_view cluster_id_annotation = "braidmq.io/cluster-id";  // of claims: whose data they hold
inline constexpr std::string_view voters_annotation = "braidmq.io/voters";  // of claims: who votes in that cluster

inline constexpr std::string_view config_path = "/etc/braidmq/config";
inline constexpr std::string_view secret_path = "/etc/braidmq/secret";
inline constexpr std::string_view secret_key = "secret";
// Folders in the volumes: their roots hold lost+found.
inline constexpr std::string_view data_path = "/var/lib/braidmq/data";
inline constexpr std::string_view wal_path = "/var/lib/braidmq-wal/wal";  // on a volume of its own
inline constexpr int admin_port = 9644;

std::string peer_service_name(std::string_view cluster);  // headless
std::string bootstrap_service_name(std::string_view cluster);
std::string config_name(std::string_view cluster);
std::string identity_name(std::string_view cluster);
std::string secret_name(std::string_view cluster);
std::string pod_name(const api::braid_pool& pool, int ordinal);
std::int32_t broker_id(const api::braid_pool& pool, int ordinal);
std::string claim_name(std::string_view volume, std::string_view pod);
std::string node_bootstrap_service_name(std::string_view cluster, std::string_view listener);
std::string node_port_service_name(std::string_view pod, std::string_view listener);

// "external" -> "EXTERNAL", as the broker wants the names of listeners.
std::string broker_listener_name(std::string_view listener);
const api::cluster_listener* first_internal(const api::braid_cluster& cluster);

// Labels of an object of the cluster; with a pool, those of its pods too.
json cluster_labels(const api::braid_cluster& cluster);
json pool_labels(const api::braid_cluster& cluster, const api::braid_pool& pool);
json cluster_selector(const api::braid_cluster& cluster);
json pool_selector(const api::braid_cluster& cluster, const api::braid_pool& pool);

json owner_reference(const k8s::resource_type& type, const api::row& owner);
// apiVersion, kind, metadata with name, namespace, labels and, when given, the owner.
json object_head(const k8s::resource_type& type, const std::string& namespace_name, const std::string& name,
                 json labels, std::optional<json> owner);

}  // namespace braidmq::resources

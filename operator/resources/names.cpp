#include "resources/names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace braidmq::resources {

std::string peer_service_name(std::string_view cluster) {
  return fmt::format("{}-brokers", cluster);
}
std::string bootstrap_service_name(std::string_view cluster) {
  return fmt::format("{}-bootstrap", cluster);
}
std::string config_name(std::string_view cluster) {
  return fmt::format("{}-config", cluster);
}
std::string identity_name(std::string_view cluster) {
  return fmt::format("{}-identity", cluster);
}
std::string secret_name(std::string_view cluster) {
  return fmt::format("{}-secret", cluster);
}
std::string pod_name(const api::braid_pool& pool, int ordinal) {
  return fmt::format("{}-{}", pool.key.name, ordinal);
}
std::int32_t broker_id(const api::braid_pool& pool, int ordinal) {
  return pool.index * 1000 + ordinal;
}
std::string claim_name(std::string_view volume, std::string_view pod) {
  return fmt::format("{}-{}", volume, pod);
}
std::string node_bootstrap_service_name(std::string_view cluster, std::string_view listener) {
  return fmt::format("{}-bootstrap-{}", cluster, listener);
}
std::string node_port_service_name(std::string_view pod, std::string_view listener) {
  return fmt::format("{}-{}", pod, listener);
}

std::string broker_listener_name(std::string_view listener) {
  std::string name(listener);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

const api::cluster_listener* first_internal(const api::braid_cluster& cluster) {
  const auto found = std::ranges::find(cluster.listeners, api::listener_kind::internal, &api::cluster_listener::kind);
  return found == cluster.listeners.end() ? nullptr : &*found;
}

json cluster_selector(const api::braid_cluster& cluster) {
  return {{"app.kubernetes.io/name", "braidmq"}, {cluster_label, cluster.key.name}};
}

json pool_selector(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  auto labels = cluster_selector(cluster);
  labels[pool_label] = pool.key.name;
  return labels;
}

json cluster_labels(const api::braid_cluster& cluster) {
  auto labels = cluster_selector(cluster);
  labels["app.kubernetes.io/instance"] = cluster.key.name;
  labels["app.kubernetes.io/managed-by"] = managed_by;
  labels["app.kubernetes.io/component"] = "broker";
  return labels;
}

json pool_labels(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  auto labels = cluster_labels(cluster);
  labels[pool_label] = pool.key.name;
  return labels;
}

json owner_reference(const k8s::resource_type& type, const api::row& owner) {
  return {{"apiVersion", type.api_version()},
          {"kind", type.kind},
          {"name", owner.key.name},
          {"uid", owner.uid},
          {"controller", true}};
}

json object_head(const k8s::resource_type& type, const std::string& namespace_name, const std::string& name,
                 json labels, std::optional<json> owner) {
  json metadata = {{"name", name}, {"namespace", namespace_name}, {"labels", std::move(labels)}};
  if (owner) metadata["ownerReferences"] = json::array({std::move(*owner)});
  return {{"apiVersion", type.api_version()}, {"kind", type.kind}, {"metadata", std::move(metadata)}};
}

}  // namespace braidmq::resources

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
std::string claim_name(std::string_view volume, std::string_view pod) {
  return fmt::format("{}-{}", volume, pod);
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

std::string port_name(const api::cluster_listener& listener) {
  constexpr std::size_t max_name = 15;
  return listener.name.size() > max_name || listener.name == "admin" ? fmt::format("port-{}", listener.port)
                                                                     : listener.name;
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

std::optional<std::string> too_long(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  constexpr std::size_t max_label = 63;
  const auto refuse = [](std::string_view what, const std::string& name, std::size_t max) {
    return fmt::format(
        "the name of {} \"{}\" may have at most {} characters, because labels and host names are made of "
        "it: delete it and apply it under a shorter name",
        what, name, max);
  };
  // "<cluster>-bootstrap" is a host name; "<pool>-<hash of 10>" a label of the StatefulSet's controller.
  constexpr std::size_t max_cluster = max_label - std::string_view("-bootstrap").size();
  constexpr std::size_t max_pool = max_label - 11;
  if (cluster.key.name.size() > max_cluster) return refuse("BraidCluster", cluster.key.name, max_cluster);
  if (pool.key.name.size() > max_pool) return refuse("BraidPool", pool.key.name, max_pool);
  for (const auto& one : cluster.listeners) {
    const auto name = node_port_service_name(pod_name(pool, 0), one.name);
    if (one.kind == api::listener_kind::node_port && name.size() > max_label)
      return refuse("BraidPool", pool.key.name, max_label - std::min(max_label, one.name.size() + 4));
  }
  return std::nullopt;
}

}  // namespace braidmq::resources

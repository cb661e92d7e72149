#include "resources/services.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"
#include "resources/voters.hpp"

namespace braidmq::resources {
namespace {

json service_port(const std::string& name, int port) {
  return {{"name", name}, {"port", port}, {"targetPort", name}, {"protocol", "TCP"}};
}

json service_head(const api::braid_cluster& cluster, const std::string& name) {
  return object_head(api::service_type, cluster.key.namespace_name, name, cluster_labels(cluster),
                     owner_reference(api::cluster_type, cluster));
}

}  // namespace

json peer_service(const api::braid_cluster& cluster, bool has_peers) {
  auto object = service_head(cluster, peer_service_name(cluster.key.name));
  json ports = json::array();
  for (const auto& one : cluster.listeners) ports.push_back(service_port(one.name, one.port));
  ports.push_back(service_port("admin", admin_port));
  if (has_peers) {
    ports.push_back(service_port("peer-braid", braid_port));
    ports.push_back(service_port("peer-quorum", controller_port));
  }
  object["spec"] = {{"clusterIP", "None"},
                    {"publishNotReadyAddresses", true},
                    {"selector", cluster_selector(cluster)},
                    {"ports", std::move(ports)}};
  seal(object);
  return object;
}

std::optional<json> bootstrap_service(const api::braid_cluster& cluster) {
  json ports = json::array();
  for (const auto& one : cluster.listeners) {
    if (one.kind == api::listener_kind::internal) ports.push_back(service_port(one.name, one.port));
  }
  if (ports.empty()) return std::nullopt;
  auto object = service_head(cluster, bootstrap_service_name(cluster.key.name));
  object["spec"] = {{"type", "ClusterIP"}, {"selector", cluster_selector(cluster)}, {"ports", std::move(ports)}};
  seal(object);
  return object;
}

json node_bootstrap_service(const api::braid_cluster& cluster, const api::cluster_listener& listener) {
  auto object = service_head(cluster, node_bootstrap_service_name(cluster.key.name, listener.name));
  auto port = service_port(listener.name, listener.port);
  if (listener.bootstrap_node_port != 0) port["nodePort"] = listener.bootstrap_node_port;
  object["spec"] = {
      {"type", "NodePort"}, {"selector", cluster_selector(cluster)}, {"ports", json::array({std::move(port)})}};
  seal(object);
  return object;
}

json node_port_service(const api::braid_cluster& cluster, const api::braid_pool& pool, int ordinal,
                       const api::cluster_listener& listener) {
  const auto pod = pod_name(pool, ordinal);
  auto object = service_head(cluster, node_port_service_name(pod, listener.name));
  object["metadata"]["labels"][pool_label] = pool.key.name;
  auto port = service_port(listener.name, listener.port);
  if (const auto wanted = listener.node_port_of(broker_id(pool, ordinal)); wanted != 0) port["nodePort"] = wanted;
  auto selector = cluster_selector(cluster);
  selector["statefulset.kubernetes.io/pod-name"] = pod;
  object["spec"] = {{"type", "NodePort"},
                    {"externalTrafficPolicy", listener.advertised_host.empty() ? "Local" : "Cluster"},
                    {"selector", std::move(selector)},
                    {"ports", json::array({std::move(port)})}};
  seal(object);
  return object;
}

}  // namespace braidmq::resources

#include "reconcile/listeners.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

int node_port_of(const environment& env, const object_key& service) {
  const auto row = env.caches.services.find(service);
  if (row == nullptr) return 0;
  const auto* ports = k8s::find(row->body, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array() || ports->empty()) return 0;
  const auto* port = k8s::find(ports->front(), {"nodePort"});
  return port != nullptr && port->is_number_integer() && *port > 0 && *port <= 65'535 ? port->get<int>() : 0;
}

std::string with_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string any_host(const environment& env, const api::braid_cluster& cluster) {
  for (const auto& pool : pools_of(env.caches, cluster.key)) {
    for (const auto& pod : pods_of(env.caches, *pool)) {
      if (!pod->host_ip.empty() && !pod->deleting) return pod->host_ip;
    }
  }
  return {};
}

}  // namespace

std::string internal_bootstrap(const environment& env, const api::braid_cluster& cluster,
                               const api::cluster_listener& listener) {
  return fmt::format("{}.{}.svc.{}:{}", resources::bootstrap_service_name(cluster.key.name), cluster.key.namespace_name,
                     env.settings.cluster_domain, listener.port);
}

std::string node_bootstrap(const environment& env, const api::braid_cluster& cluster,
                           const api::cluster_listener& listener) {
  const auto port = node_port_of(
      env, {cluster.key.namespace_name, resources::node_bootstrap_service_name(cluster.key.name, listener.name)});
  const auto host = listener.advertised_host.empty() ? any_host(env, cluster) : listener.advertised_host;
  return port == 0 || host.empty() ? std::string() : fmt::format("{}:{}", with_brackets(host), port);
}

std::vector<admin_client::listener_info> pushed_addresses(const environment& env, const api::braid_cluster& cluster,
                                                          const api::pod& pod) {
  std::vector<admin_client::listener_info> all;
  for (const auto& listener : cluster.listeners) {
    if (listener.kind != api::listener_kind::node_port) continue;
    const auto port =
        node_port_of(env, {pod.key.namespace_name, resources::node_port_service_name(pod.key.name, listener.name)});
    const auto& host = listener.advertised_host.empty() ? pod.host_ip : listener.advertised_host;
    if (port != 0 && !host.empty())
      all.push_back(
          {.name = resources::broker_listener_name(listener.name), .host = host, .port = std::uint16_t(port)});
  }
  return all;
}

}  // namespace braidmq::reconcile

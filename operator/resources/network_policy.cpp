#include "resources/network_policy.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"
#include "resources/voters.hpp"

namespace braidmq::resources {

json network_policy(const api::braid_cluster& cluster, const std::set<int>& ports_too, bool has_peers) {
  auto object = object_head(api::network_policy_type, cluster.key.namespace_name, cluster.key.name,
                            cluster_labels(cluster), owner_reference(api::cluster_type, cluster));
  json kafka = json::array();
  auto more = ports_too;
  for (const auto& one : cluster.listeners) {
    kafka.push_back({{"protocol", "TCP"}, {"port", one.port}});
    more.erase(one.port);
  }
  for (const int port : more) kafka.push_back({{"protocol", "TCP"}, {"port", port}});
  const json admin = json::array({{{"protocol", "TCP"}, {"port", admin_port}}});
  json rules = json::array({{{"from", json::array({{{"namespaceSelector", json::object()}}})}, {"ports", admin}}});
  if (has_peers) {
    const json between =
        json::array({{{"protocol", "TCP"}, {"port", braid_port}}, {{"protocol", "TCP"}, {"port", controller_port}}});
    const json peers = json::array({{{"podSelector", {{"matchLabels", cluster_selector(cluster)}}}}});
    rules.push_back({{"from", peers}, {"ports", between}});
  }
  if (!kafka.empty()) rules.push_back({{"ports", std::move(kafka)}});
  object["spec"] = {{"podSelector", {{"matchLabels", cluster_selector(cluster)}}},
                    {"policyTypes", {"Ingress"}},
                    {"ingress", std::move(rules)}};
  seal(object);
  return object;
}

std::set<int> admitted_ports(const json& policy) {
  std::set<int> ports;
  const auto* rules = k8s::find(policy, {"spec", "ingress"});
  if (rules == nullptr || !rules->is_array()) return ports;
  for (const auto& rule : *rules) {
    if (!rule.is_object() || rule.contains("from")) continue;
    const auto* listed = k8s::find(rule, {"ports"});
    if (listed == nullptr || !listed->is_array()) continue;
    for (const auto& one : *listed) {
      const auto* port = k8s::find(one, {"port"});
      if (port != nullptr && port->is_number_integer()) ports.insert(port->get<int>());
    }
  }
  return ports;
}

}  // namespace braidmq::resources

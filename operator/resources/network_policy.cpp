#include "resources/network_policy.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"

namespace braidmq::resources {

json network_policy(const api::braid_cluster& cluster) {
  auto object = object_head(api::network_policy_type, cluster.key.namespace_name, cluster.key.name,
                            cluster_labels(cluster), owner_reference(api::cluster_type, cluster));
  json kafka = json::array();
  for (const auto& one : cluster.listeners) kafka.push_back({{"protocol", "TCP"}, {"port", one.port}});
  const json admin = json::array({{{"protocol", "TCP"}, {"port", admin_port}}});
  json rules = json::array({{{"from", json::array({{{"namespaceSelector", json::object()}}})}, {"ports", admin}}});
  if (!kafka.empty()) rules.push_back({{"ports", std::move(kafka)}});
  object["spec"] = {{"podSelector", {{"matchLabels", cluster_selector(cluster)}}},
                    {"policyTypes", {"Ingress"}},
                    {"ingress", std::move(rules)}};
  seal(object);
  return object;
}

}  // namespace braidmq::resources

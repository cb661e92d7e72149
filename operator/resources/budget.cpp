#include "resources/budget.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"

namespace braidmq::resources {

std::optional<json> budget(const api::braid_cluster& cluster, int brokers) {
  if (brokers < 2 || !cluster.budget) return std::nullopt;
  auto object = object_head(api::budget_type, cluster.key.namespace_name, cluster.key.name, cluster_labels(cluster),
                            owner_reference(api::cluster_type, cluster));
  object["spec"] = {{"maxUnavailable", 1},
                    {"unhealthyPodEvictionPolicy", "AlwaysAllow"},
                    {"selector", {{"matchLabels", cluster_selector(cluster)}}}};
  seal(object);
  return object;
}

}  // namespace braidmq::resources

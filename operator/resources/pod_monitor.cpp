#include "resources/pod_monitor.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"

namespace braidmq::resources {

json pod_monitor(const api::braid_cluster& cluster) {
  auto object = object_head(api::pod_monitor_type, cluster.key.namespace_name, cluster.key.name,
                            cluster_labels(cluster), owner_reference(api::cluster_type, cluster));
  for (const auto& [key, value] : cluster.pod_monitor_labels) object["metadata"]["labels"][key] = value;
  json endpoint = {{"port", "admin"}, {"path", "/metrics"}};
  if (cluster.scrape_interval_s) endpoint["interval"] = fmt::format("{}s", *cluster.scrape_interval_s);
  object["spec"] = {{"selector", {{"matchLabels", cluster_selector(cluster)}}},
                    {"podTargetLabels", {"braidmq.io/cluster", "braidmq.io/pool"}},
                    {"podMetricsEndpoints", json::array({std::move(endpoint)})}};
  seal(object);
  return object;
}

}  // namespace braidmq::resources

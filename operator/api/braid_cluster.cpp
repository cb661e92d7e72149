#include "api/braid_cluster.hpp"

#include <algorithm>

namespace braidmq::api {
namespace {

constexpr std::int64_t max_port = 65'535;

cluster_listener read_listener(const reader& item) {
  cluster_listener one;
  one.name = item.text("name");
  one.port = static_cast<std::int32_t>(item.number("port", 0, 1, max_port));
  one.kind = static_cast<listener_kind>(item.choice("type", {"internal", "nodeport"}, 0));
  one.bootstrap_node_port = static_cast<std::int32_t>(item.number("bootstrapNodePort", 0, 0, max_port));
  item.each("nodePorts", [&one](const reader& entry) {
    one.node_ports.emplace_back(entry.number("broker", 0, 0, 999'999), entry.number("nodePort", 0, 0, max_port));
  });
  one.advertised_host = item.text("advertisedHost");
  return one;
}

void read_spec(const reader& spec, braid_cluster& target) {
  target.image = spec.text("image");
  target.image_pull_policy = spec.text("imagePullPolicy");
  spec.each("imagePullSecrets", [&](const reader& item) { target.image_pull_secrets.push_back(item.text("name")); });
  spec.each("listeners", [&](const reader& item) { target.listeners.push_back(read_listener(item)); });
  if (target.listeners.empty()) target.listeners.push_back({.name = "internal", .port = 9092});  // the schema's default
  target.config = spec.texts_by_name("config");
  target.braid_replicas = spec.optional_number("braidReplicas", 1, 9);
  const auto monitor = spec.object("metrics").object("podMonitor");
  target.pod_monitor = monitor.flag("enabled", true);
  target.pod_monitor_labels = monitor.texts_by_name("labels");
  target.scrape_interval_s = monitor.optional_number("intervalSeconds", 1, 3600);
  target.network_policy = spec.object("networkPolicy").flag("enabled", true);
  target.budget = spec.object("disruption").text("mode") != "Disabled";
  target.grace_s = spec.object("shutdown").number("gracePeriodSeconds", target.grace_s, 30, 3600);
  target.drain_timeout_s = spec.object("shutdown").number("drainTimeoutSeconds", target.drain_timeout_s, 1, 3590);
  target.deletion_policy = static_cast<deletion_policy>(spec.choice("deletionPolicy", {"Retain", "Delete"}, 0));
  target.paused = spec.flag("paused", false) || target.is_set(paused_annotation);
}

}  // namespace

const k8s::resource_type cluster_type{std::string(group), std::string(version), "BraidCluster", "braidclusters"};

std::int32_t cluster_listener::node_port_of(std::int32_t broker) const {
  const auto found = std::ranges::find(node_ports, broker, [](const auto& entry) { return entry.first; });
  return found == node_ports.end() ? 0 : found->second;
}

braid_cluster read_cluster(const json& object) {
  braid_cluster target;
  read_row(object, target);
  read_spec(reader(k8s::find(object, {"spec"}), "spec", target.problems), target);
  target.conditions = read_conditions(object);
  if (const auto* status = k8s::find(object, {"status"}); status != nullptr && status->is_object()) {
    std::vector<std::string> ignored;
    target.cluster_id = reader(status, "status", ignored).text("clusterId");
    target.status_hash = hash_of_document(*status);
    target.status = *status;
  }
  return target;
}

}  // namespace braidmq::api

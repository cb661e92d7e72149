#include "api/braid_cluster.hpp"

namespace braidmq::api {
namespace {

constexpr std::int64_t max_port = 65'535;

cluster_listener read_listener(const reader& item) {
  cluster_listener one;
  one.name = item.text("name");
  one.port = static_cast<std::int32_t>(item.number("port", 0, 1, max_port));
  one.kind = static_cast<listener_kind>(item.choice("type", {"internal", "nodeport"}, 0));
  one.node_port = static_cast<std::int32_t>(item.number("nodePort", 0, 0, max_port));
  return one;
}

void read_spec(const reader& spec, braid_cluster& target) {
  target.version_text = spec.text("version");
  target.image = spec.text("image");
  target.image_pull_policy = spec.text("imagePullPolicy");
  spec.each("imagePullSecrets", [&](const reader& item) { target.image_pull_secrets.push_back(item.text("name")); });
  spec.each("listeners", [&](const reader& item) { target.listeners.push_back(read_listener(item)); });
  target.config = spec.texts_by_name("config");
  target.braids = spec.number("braids", 1, 1, 1024);
  target.pod_monitor = spec.object("metrics").flag("podMonitor", false);
  target.network_policy = spec.object("networkPolicy").flag("enabled", true);
  target.budget = spec.object("disruption").text("mode") != "Disabled";
  target.deletion_policy = static_cast<deletion_policy>(spec.choice("deletionPolicy", {"Retain", "Delete"}, 0));
  target.paused = spec.flag("paused", false) || target.is_set(paused_annotation);
}

}  // namespace

const k8s::resource_type cluster_type{std::string(group), std::string(version), "BraidCluster", "braidclusters"};

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

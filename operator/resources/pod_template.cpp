#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "resources/stateful_set.hpp"

namespace braidmq::resources {
namespace {

constexpr int user_id = 65532;  // of the image

json security_context() {
  return {{"runAsNonRoot", true},
          {"runAsUser", user_id},
          {"runAsGroup", user_id},
          {"fsGroup", user_id},
          {"fsGroupChangePolicy", "OnRootMismatch"},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

json probe(const char* path, int period_s, int timeout_s) {
  return {{"httpGet", {{"path", path}, {"port", "admin"}, {"scheme", "HTTP"}}},
          {"periodSeconds", period_s},
          {"timeoutSeconds", timeout_s},
          {"failureThreshold", 3}};
}

std::string advertised(const api::braid_cluster& cluster, const std::string& domain) {
  std::string all;
  for (const auto& one : cluster.listeners) {
    if (one.kind != api::listener_kind::internal) continue;
    all += fmt::format("{}{}://$(POD_NAME).{}.{}.svc.{}:{}", all.empty() ? "" : ",", broker_listener_name(one.name),
                       peer_service_name(cluster.key.name), cluster.key.namespace_name, domain, one.port);
  }
  return all;
}

json arguments(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs) {
  json list = {"--config", fmt::format("{}/broker.yaml", config_path), "--set", "broker.id=$(POD_INDEX)"};
  const auto set = [&list](std::string assignment) {
    list.push_back("--set");
    list.push_back(std::move(assignment));
  };
  set(fmt::format("braid.broker.id.offset={}", broker_id(pool, 0)));
  if (auto fixed = advertised(cluster, inputs.cluster_domain); !fixed.empty()) set("advertised.listeners=" + fixed);
  if (pool.wal_storage) set(fmt::format("wal.dir={}", wal_path));
  if (has_peers(inputs.voters)) {
    set("controller.quorum.voters=" + quorum_text(inputs.voters, cluster, inputs.cluster_domain));
    set(fmt::format("controller.listener=:{}", controller_port));
    set(fmt::format("braid.listener=:{}", braid_port));
    // Only the pool knows a zone before the pod has a node, and pods are not told the labels of nodes. A pool that is
    // spread over zones leaves its brokers without a rack.
    if (!pool.zone.empty() && api::find(cluster.config, "broker.rack") == nullptr) set("broker.rack=" + pool.zone);
  }
  return list;
}

json environment() {
  const auto field = [](const char* name, const char* path) -> json {
    return {{"name", name}, {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", path}}}}}};
  };
  return json::array(
      {field("POD_NAME", "metadata.name"), field("POD_INDEX", "metadata.labels['apps.kubernetes.io/pod-index']")});
}

json mounts(const api::braid_pool& pool) {
  json list = json::array({{{"name", "data"}, {"mountPath", "/var/lib/braidmq"}},
                           {{"name", "config"}, {"mountPath", config_path}, {"readOnly", true}},
                           {{"name", "secret"}, {"mountPath", secret_path}, {"readOnly", true}}});
  if (pool.wal_storage) list.push_back({{"name", "wal"}, {"mountPath", "/var/lib/braidmq-wal"}});
  return list;
}

json ports(const api::braid_cluster& cluster, const pod_inputs& inputs) {
  json list = json::array();
  for (const auto& one : cluster.listeners)
    list.push_back({{"name", one.name}, {"containerPort", one.port}, {"protocol", "TCP"}});
  list.push_back({{"name", "admin"}, {"containerPort", admin_port}, {"protocol", "TCP"}});
  if (has_peers(inputs.voters)) {
    list.push_back({{"name", "peer-braid"}, {"containerPort", braid_port}, {"protocol", "TCP"}});
    list.push_back({{"name", "peer-quorum"}, {"containerPort", controller_port}, {"protocol", "TCP"}});
  }
  return list;
}

json container(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs) {
  json one = {
      {"name", "broker"},
      {"image", inputs.image},
      {"command", {"/usr/bin/braid-broker"}},
      {"args", arguments(cluster, pool, inputs)},
      {"env", environment()},
      {"ports", ports(cluster, inputs)},
      {"volumeMounts", mounts(pool)},
      // Alive: its event loop beats. No startup probe: recovery of a large log may take any time.
      {"livenessProbe", probe("/livez", 10, 5)},
      {"readinessProbe", probe("/readyz", 2, 2)},
      {"lifecycle",
       {{"preStop",
         {{"exec",
           {{"command",
             {"/usr/bin/braidctl", "drain", "--timeout", fmt::format("{}s", cluster.drain_timeout_s), "--secret-file",
              fmt::format("{}/{}", secret_path, secret_key)}}}}}}}},
      // The last lines of the log become the reason that kubectl and our conditions show.
      {"terminationMessagePolicy", "FallbackToLogsOnError"},
      {"securityContext",
       {{"allowPrivilegeEscalation", false}, {"readOnlyRootFilesystem", true}, {"capabilities", {{"drop", {"ALL"}}}}}}};
  if (!cluster.image_pull_policy.empty()) one["imagePullPolicy"] = cluster.image_pull_policy;
  if (!pool.resources.is_null()) one["resources"] = pool.resources;
  return one;
}

json affinity(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  const json term = {{"topologyKey", "kubernetes.io/hostname"},
                     {"labelSelector", {{"matchLabels", cluster_selector(cluster)}}}};
  switch (pool.pod.nodes) {
    case api::spread::required:
      return {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", json::array({term})}}}};
    case api::spread::preferred:
      return {{"podAntiAffinity",
               {{"preferredDuringSchedulingIgnoredDuringExecution",
                 json::array({{{"weight", 100}, {"podAffinityTerm", term}}})}}}};
    case api::spread::none:
      break;
  }
  return json::object();
}

// A pool with a zone is pinned to it; one without is spread over zones.
json topology_spread(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  if (!pool.zone.empty() || pool.pod.zones == api::spread::none) return json::array();
  return json::array(
      {{{"maxSkew", 1},
        {"topologyKey", "topology.kubernetes.io/zone"},
        {"whenUnsatisfiable", pool.pod.zones == api::spread::required ? "DoNotSchedule" : "ScheduleAnyway"},
        {"labelSelector", {{"matchLabels", cluster_selector(cluster)}}}}});
}

json volumes(const api::braid_cluster& cluster) {
  return json::array(
      {{{"name", "config"}, {"configMap", {{"name", config_name(cluster.key.name)}, {"defaultMode", 0444}}}},
       {{"name", "secret"}, {"secret", {{"secretName", secret_name(cluster.key.name)}, {"defaultMode", 0440}}}}});
}

json placement(const api::braid_cluster& cluster, const api::braid_pool& pool) {
  json part = json::object();
  json selector = json::object();
  for (const auto& [key, value] : pool.pod.node_selector) selector[key] = value;
  if (!pool.zone.empty()) selector["topology.kubernetes.io/zone"] = pool.zone;
  if (!selector.empty()) part["nodeSelector"] = std::move(selector);
  if (auto apart = affinity(cluster, pool); !apart.empty()) part["affinity"] = std::move(apart);
  if (auto spread = topology_spread(cluster, pool); !spread.empty())
    part["topologySpreadConstraints"] = std::move(spread);
  if (pool.pod.tolerations.is_array() && !pool.pod.tolerations.empty()) part["tolerations"] = pool.pod.tolerations;
  if (!pool.pod.priority_class.empty()) part["priorityClassName"] = pool.pod.priority_class;
  return part;
}

json pod_metadata(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs) {
  json labels = json::object();
  for (const auto& [key, value] : pool.pod.labels) labels[key] = value;
  labels.update(pool_labels(cluster, pool));  // ours win: selectors hang on them
  json annotations = json::object();
  for (const auto& [key, value] : pool.pod.annotations) annotations[key] = value;
  annotations[std::string(config_annotation)] = inputs.config_hash;
  return {{"labels", std::move(labels)}, {"annotations", std::move(annotations)}};
}

}  // namespace

json pod_template(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs) {
  json spec = placement(cluster, pool);
  spec["containers"] = json::array({container(cluster, pool, inputs)});
  spec["volumes"] = volumes(cluster);
  spec["securityContext"] = security_context();
  spec["terminationGracePeriodSeconds"] = cluster.grace_s;
  spec["automountServiceAccountToken"] = false;
  spec["enableServiceLinks"] = false;
  json secrets = json::array();
  for (const auto& name : cluster.image_pull_secrets) secrets.push_back({{"name", name}});
  if (!secrets.empty()) spec["imagePullSecrets"] = std::move(secrets);
  return {{"metadata", pod_metadata(cluster, pool, inputs)}, {"spec", std::move(spec)}};
}

}  // namespace braidmq::resources

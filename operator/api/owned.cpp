#include "api/owned.hpp"

#include <limits>

namespace braidmq::api {
namespace {

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

std::int32_t count(const reader& at, std::string_view name) {
  return static_cast<std::int32_t>(at.number(name, 0, 0, int32_max));
}

std::string controller_uid(const reader& meta) {
  std::string uid;
  meta.each("ownerReferences", [&uid](const reader& owner) {
    if (owner.flag("controller", false)) uid = owner.text("uid");
  });
  return uid;
}

void read_owned_parts(const json& object, owned_object& target) {
  read_row(object, target);
  const reader meta(k8s::find(object, {"metadata"}), "metadata", target.problems);
  target.owner_uid = controller_uid(meta);
  target.labels = meta.texts_by_name("labels");
  target.body = object;
  target.body.erase("status");
  if (auto found = target.body.find("metadata"); found != target.body.end() && found->is_object()) {
    found->erase("managedFields");
  }
}

void read_container(const reader& container, container_state& target) {
  const auto state = container.object("state");
  const auto waiting = state.object("waiting");
  target.waiting_reason = waiting.text("reason");
  target.waiting_message = waiting.text("message");
  target.running = state.has("running");
  // A container that has just ended has its end in `state`, afterwards in `lastState`.
  const auto ended =
      state.has("terminated") ? state.object("terminated") : container.object("lastState").object("terminated");
  target.last_reason = ended.text("reason");
  target.last_message = ended.text("message");
  target.last_exit_code = static_cast<std::int32_t>(ended.number("exitCode", 0, -int32_max, int32_max));
  target.restarts = count(container, "restartCount");
}

void read_pod_status(const reader& status, pod& target) {
  target.phase = status.text("phase");
  target.pod_ip = status.text("podIP");
  target.host_ip = status.text("hostIP");
  status.each("conditions", [&target](const reader& item) {
    const auto type = item.text("type");
    const bool yes = item.text("status") == "True";
    if (type == "Ready") target.ready = yes;
    if (type != "PodScheduled") return;
    target.scheduled = yes;
    if (yes) return;
    target.unscheduled_reason = item.text("reason");
    target.unscheduled_message = item.text("message");
    target.unscheduled_s = parse_time(item.text("lastTransitionTime"));
  });
  bool first = true;
  status.each("containerStatuses", [&](const reader& container) {
    if (first) read_container(container, target.broker);
    first = false;
  });
}

}  // namespace

const k8s::resource_type stateful_set_type{"apps", "v1", "StatefulSet", "statefulsets"};
const k8s::resource_type service_type{"", "v1", "Service", "services"};
const k8s::resource_type config_map_type{"", "v1", "ConfigMap", "configmaps"};
const k8s::resource_type secret_type{"", "v1", "Secret", "secrets"};
const k8s::resource_type claim_type{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"};
const k8s::resource_type pod_type{"", "v1", "Pod", "pods"};
const k8s::resource_type budget_type{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"};
const k8s::resource_type network_policy_type{"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"};
const k8s::resource_type pod_monitor_type{"monitoring.coreos.com", "v1", "PodMonitor", "podmonitors"};
const k8s::resource_type core_event_type{"", "v1", "Event", "events"};
const k8s::resource_type namespace_type{"", "v1", "Namespace", "namespaces", false};
const k8s::resource_type crd_type{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
                                  false};

owned_object read_owned(const json& object) {
  owned_object target;
  read_owned_parts(object, target);
  return target;
}

stateful_set read_stateful_set(const json& object) {
  stateful_set target;
  read_owned_parts(object, target);
  const reader status(k8s::find(object, {"status"}), "status", target.problems);
  target.observed_generation = status.number("observedGeneration", 0, 0, std::numeric_limits<std::int64_t>::max());
  target.replicas = count(status, "replicas");
  target.ready_replicas = count(status, "readyReplicas");
  return target;
}

pod read_pod(const json& object) {
  pod target;
  read_row(object, target);
  const reader meta(k8s::find(object, {"metadata"}), "metadata", target.problems);
  target.owner_uid = controller_uid(meta);
  target.labels = meta.texts_by_name("labels");
  const reader spec(k8s::find(object, {"spec"}), "spec", target.problems);
  target.node = spec.text("nodeName");
  bool first = true;
  spec.each("containers", [&](const reader& container) {
    if (first) target.image = container.text("image");
    first = false;
  });
  spec.each("volumes", [&target](const reader& volume) {
    if (auto name = volume.object("persistentVolumeClaim").text("claimName"); !name.empty())
      target.claims.push_back(std::move(name));
  });
  read_pod_status(reader(k8s::find(object, {"status"}), "status", target.problems), target);
  return target;
}

claim read_claim_metadata(const json& object) {
  claim target;
  read_row(object, target);
  target.labels = reader(k8s::find(object, {"metadata"}), "metadata", target.problems).texts_by_name("labels");
  return target;
}

row read_metadata(const json& object) {
  row target;
  read_row(object, target);
  return target;
}

}  // namespace braidmq::api

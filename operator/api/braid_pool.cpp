#include "api/braid_pool.hpp"

namespace braidmq::api {
namespace {

volume_claim read_claim(const reader& at) {
  return {at.text("size"), at.optional_text("storageClassName")};
}

pool_template read_template(const reader& at) {
  pool_template pod;
  pod.labels = at.texts_by_name("labels");
  pod.annotations = at.texts_by_name("annotations");
  pod.node_selector = at.texts_by_name("nodeSelector");
  pod.tolerations = at.raw_list("tolerations");
  pod.nodes = static_cast<spread>(at.choice("antiAffinity", {"Required", "Preferred", "None"}, 0));
  pod.zones = static_cast<spread>(at.choice("topologySpread", {"Required", "Preferred", "None"}, 1));
  pod.priority_class = at.text("priorityClassName");
  return pod;
}

}  // namespace

const k8s::resource_type pool_type{std::string(group), std::string(version), "BraidPool", "braidpools"};

braid_pool read_pool(const json& object) {
  braid_pool target;
  read_row(object, target);
  const reader spec(k8s::find(object, {"spec"}), "spec", target.problems);
  target.cluster = spec.object("clusterRef").text("name");
  target.replicas = static_cast<std::int32_t>(spec.number("replicas", 1, 0, 100));
  target.index = static_cast<std::int32_t>(spec.number("index", 0, 0, 999));
  target.zone = spec.text("zone");
  target.storage = read_claim(spec.object("storage"));
  target.reclaim = static_cast<deletion_policy>(spec.object("storage").choice("reclaim", {"Retain", "Delete"}, 0));
  if (spec.has("walStorage")) target.wal_storage = read_claim(spec.object("walStorage"));
  target.resources = spec.raw_object("resources");
  target.pod = read_template(spec.object("template"));
  target.conditions = read_conditions(object);
  if (const auto* status = k8s::find(object, {"status"})) target.status_hash = hash_of_document(*status);
  return target;
}

}  // namespace braidmq::api

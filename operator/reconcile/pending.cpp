#include "reconcile/pending.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "resources/compare.hpp"

namespace braidmq::reconcile {
namespace {

std::string text_at(const json& object, std::initializer_list<std::string_view> path) {
  const auto* value = k8s::find(object, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

const json* first_container(const json& set) {
  const auto* list = k8s::find(set, {"spec", "template", "spec", "containers"});
  return list == nullptr || !list->is_array() || list->empty() ? nullptr : &list->front();
}

void hold_image(json& wanted, const json& live, std::vector<std::string>& held) {
  const auto* container = first_container(live);
  const auto now = container == nullptr ? std::string() : text_at(*container, {"image"});
  auto& next = wanted["spec"]["template"]["spec"]["containers"][0]["image"];
  if (now.empty() || next == now) return;
  held.push_back(
      fmt::format("image from {} to {}: rolling upgrades are not built yet; set spec.image of the BraidCluster to "
                  "{}",
                  now, next.get<std::string>(), now));
  next = now;
}

const json* claim_by_name(const json& claims, const std::string& name) {
  for (const auto& claim : claims) {
    if (text_at(claim, {"metadata", "name"}) == name) return &claim;
  }
  return nullptr;
}

std::string describe_claim(const json& claim) {
  const auto storage_class = text_at(claim, {"spec", "storageClassName"});
  return fmt::format("{}{}{}", text_at(claim, {"spec", "resources", "requests", "storage"}),
                     storage_class.empty() ? "" : " of ", storage_class);
}

// What a StatefulSet's claims are is decided when it is made.
void hold_claims(json& wanted, const json& live, std::vector<std::string>& held) {
  const auto* now = k8s::find(live, {"spec", "volumeClaimTemplates"});
  auto& next = wanted["spec"]["volumeClaimTemplates"];
  if (now == nullptr || !now->is_array()) return;
  for (const auto& claim : next) {
    const auto name = text_at(claim, {"metadata", "name"});
    const auto* was = claim_by_name(*now, name);
    if (was == nullptr) {
      held.push_back(
          fmt::format("a volume \"{}\": volumes of a pool that runs cannot be added yet; take it out again", name));
    } else if (!resources::covers(was->at("spec"), claim.at("spec"))) {
      held.push_back(fmt::format("storage \"{}\" from {} to {}: growing volumes is not built yet; set it back to {}",
                                 name, describe_claim(*was), describe_claim(claim), describe_claim(*was)));
    }
  }
  for (const auto& claim : *now) {
    const auto name = text_at(claim, {"metadata", "name"});
    if (claim_by_name(next, name) == nullptr)
      held.push_back(
          fmt::format("no volume \"{}\": volumes of a pool that runs cannot be taken away; put it back", name));
  }
  if (!resources::covers(*now, next)) next = *now;
}

// Its own mount and argument come and go with the volume.
void hold_pod_of_claims(json& wanted, const json& live) {
  const auto count = [](const json& set) {
    const auto* claims = k8s::find(set, {"spec", "volumeClaimTemplates"});
    return claims == nullptr ? std::size_t{0} : claims->size();
  };
  const auto* container = first_container(live);
  if (container == nullptr || count(live) == 0) return;
  auto& next = wanted["spec"]["template"]["spec"]["containers"][0];
  for (const char* name : {"args", "volumeMounts"}) {
    if (container->contains(name)) next[name] = container->at(name);
  }
}

}  // namespace

std::vector<std::string> hold_back(json& wanted, const json& live, bool founded) {
  std::vector<std::string> held;
  if (founded) hold_image(wanted, live, held);
  const auto before = held.size();
  const auto wanted_volumes = wanted["spec"]["volumeClaimTemplates"].size();
  hold_claims(wanted, live, held);
  if (held.size() != before && wanted["spec"]["volumeClaimTemplates"].size() != wanted_volumes)
    hold_pod_of_claims(wanted, live);
  if (held.empty()) return held;
  auto& pods = wanted["spec"]["template"];
  pods["metadata"]["annotations"].erase(std::string(resources::revision_annotation));
  pods["metadata"]["annotations"][resources::revision_annotation] = resources::revision_of(pods);
  resources::seal(wanted);
  return held;
}

}  // namespace braidmq::reconcile

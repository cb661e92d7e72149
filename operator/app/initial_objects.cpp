#include "operator_app/initial_objects.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/braid_cluster.hpp"
#include "api/braid_pool.hpp"
#include "api/topic.hpp"
#include "resources/compare.hpp"

namespace braidmq::operator_app {
namespace {

using k8s::json;

const k8s::resource_type* type_of(const json& object) {
  const auto* kind = k8s::find(object, {"kind"});
  const auto* version = k8s::find(object, {"apiVersion"});
  for (const auto* type : {&api::cluster_type, &api::pool_type, &api::topic_type}) {
    if (kind != nullptr && version != nullptr && *kind == type->kind && *version == type->api_version()) return type;
  }
  return nullptr;
}

result<bool> apply_one(k8s::client& api, const std::string& name, const std::string& text, const std::string& in) {
  auto object = json::parse(text, nullptr, false);
  const auto* type = type_of(object);
  if (type == nullptr || k8s::name_of(object).empty())
    return fail(k8s::errc::invalid,
                fmt::format("{} is no BraidCluster, BraidPool or Topic of braidmq.io/v1alpha1", name));
  auto& metadata = object["metadata"];
  metadata["namespace"] = in;
  const auto revision = resources::revision_of(object);
  const auto live = api.get(*type, k8s::key_of(object));
  if (live) {
    const auto* annotations = k8s::find(*live, {"metadata", "annotations"});
    const auto* applied = annotations == nullptr ? nullptr : k8s::find(*annotations, {initial_annotation});
    if (applied != nullptr && *applied == revision) return false;
    metadata["uid"] = std::string(k8s::uid_of(*live));  // one that is deleted meanwhile is not made anew by accident
  } else if (live.error().code != k8s::errc::not_found) {
    return tl::unexpected(live.error());
  }
  metadata["annotations"][initial_annotation] = revision;
  const auto written = api.apply(*type, object, {.field_manager = std::string(initial_manager)});
  if (!written) return tl::unexpected(with_context(written.error(), name));
  return true;
}

}  // namespace

result<int> apply_initial_objects(k8s::client& api, const k8s::object_key& config_map) {
  static const k8s::resource_type config_maps{"", "v1", "ConfigMap", "configmaps"};
  BRAID_TRY(map, api.get(config_maps, config_map));
  const auto* data = k8s::find(map, {"data"});
  if (data == nullptr || !data->is_object()) return 0;
  int written = 0;
  for (const auto& [name, text] : data->items()) {
    if (!text.is_string()) continue;
    BRAID_TRY(one, apply_one(api, name, text.get<std::string>(), config_map.namespace_name));
    if (one) ++written;
  }
  return written;
}

}  // namespace braidmq::operator_app

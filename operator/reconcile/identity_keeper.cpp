#include "reconcile/identity_keeper.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/claims.hpp"
#include "reconcile/write.hpp"

namespace braidmq::reconcile {
namespace {

object_key identity_key(const api::braid_cluster& cluster) {
  return {cluster.key.namespace_name, resources::identity_name(cluster.key.name)};
}

void tell(environment& env, const api::braid_cluster& cluster, const char* reason, const std::string& note) {
  env.events.record(reference(api::cluster_type, cluster), k8s::event_type::normal, reason, "KeepIdentity", note);
}

result<resources::identity> make(environment& env, const api::braid_cluster& cluster, resources::identity who) {
  const auto made =
      env.api.create(api::config_map_type, resources::identity_map(cluster, who), std::string(field_manager));
  if (!made) return tl::unexpected(made.error());
  return who;
}

// The ConfigMap is gone, or there never was one: what the status and the volumes know comes first.
result<resources::identity> found_anew(environment& env, const api::braid_cluster& cluster) {
  if (!cluster.cluster_id.empty()) {
    tell(env, cluster, "IdentityRestored", fmt::format("cluster id {} from the status", cluster.cluster_id));
    return make(env, cluster, {.cluster_id = cluster.cluster_id, .existing = true});
  }
  BRAID_TRY(claims, find_claims(env, cluster.key));
  if (!claims.cluster_id.empty()) {
    tell(env, cluster, "IdentityRestored", fmt::format("cluster id {} from its volume claims", claims.cluster_id));
    return make(env, cluster, {.cluster_id = claims.cluster_id, .existing = true});
  }
  const auto id = env.random.next_uuid().to_string();
  tell(env, cluster, "ClusterIdMade", fmt::format("cluster id {}", id));
  return make(env, cluster, {.cluster_id = id, .existing = false});
}

// A BraidCluster that has no status yet, an identity that was founded, and not one volume: all data are gone by
// somebody's hand, and a broker with that identity would refuse its empty folder for ever.
result<bool> is_left_over(environment& env, const api::braid_cluster& cluster, const resources::identity& who) {
  if (!who.existing || !cluster.cluster_id.empty() || !cluster.conditions.empty()) return false;
  const auto pools = pools_of(env.caches, cluster.key);
  if (std::ranges::any_of(pools, [&](const auto& pool) { return stateful_set_of(env.caches, *pool) != nullptr; }))
    return false;
  BRAID_TRY(claims, find_claims(env, cluster.key));
  return !claims.any;
}

}  // namespace

result<resources::identity> keep_identity(environment& env, const api::braid_cluster& cluster) {
  const auto live = env.api.get(api::config_map_type, identity_key(cluster));
  if (!live) {
    if (live.error().code != k8s::errc::not_found) return tl::unexpected(live.error());
    return found_anew(env, cluster);
  }
  auto who = resources::read_identity(*live);
  if (!who) {
    return fail(
        write_errc::name_taken,
        fmt::format("ConfigMap {} holds no cluster.id: restore it from a backup, or delete it when this cluster has "
                    "no data yet",
                    identity_key(cluster).to_string()));
  }
  BRAID_TRY(left_over, is_left_over(env, cluster, *who));
  if (!left_over) return *who;
  BRAID_TRY_VOID(env.api.remove(
      api::config_map_type, identity_key(cluster),
      {.uid = std::string(k8s::uid_of(*live)), .resource_version = std::string(k8s::resource_version_of(*live))}));
  tell(env, cluster, "IdentityForgotten",
       fmt::format("cluster id {} has no volume any more: the cluster is founded anew", who->cluster_id));
  return found_anew(env, cluster);
}

result<bool> note_founding(environment& env, const api::braid_cluster& cluster, const broker_state& state,
                           resources::identity& who) {
  if (who.existing || !state.answered || state.info.cluster_id != who.cluster_id) return false;
  const auto key = identity_key(cluster);
  BRAID_TRY(live, env.api.get(api::config_map_type, key));
  const json operations =
      json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", k8s::resource_version_of(live)}},
                   {{"op", "test"}, {"path", "/data/cluster.id"}, {"value", who.cluster_id}},
                   {{"op", "replace"}, {"path", "/data/braid.bootstrap"}, {"value", "existing"}}});
  BRAID_TRY_VOID(just_status(env.api.json_patch(api::config_map_type, key, operations)));
  who.existing = true;
  tell(env, cluster, "ClusterFounded", fmt::format("the broker has founded cluster {}", who.cluster_id));
  return true;
}

}  // namespace braidmq::reconcile

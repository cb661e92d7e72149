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

// Of the status as last written.
resources::voter_list voters_of_status(const api::braid_cluster& cluster) {
  const auto* text = k8s::find(cluster.status, {"voters"});
  if (text == nullptr || !text->is_string()) return {};
  return resources::parse_voters(text->get<std::string>()).value_or(resources::voter_list{});
}

// The brokers of a cluster whose identity does not name them, because it is gone or of a version that ran clusters of
// one broker: what runs and what has data knows. Never others: an empty broker in their place would found a second
// cluster.
result<resources::voter_list> recover_voters(environment& env, const api::braid_cluster& cluster,
                                             const found_claims& claims) {
  if (auto known = voters_of_status(cluster); !known.empty()) return known;
  if (!claims.voters.empty()) {
    if (auto known = resources::parse_voters(claims.voters)) return std::move(*known);
  }
  resources::voter_list running;
  resources::voter_list with_data;
  for (const auto& pool : pools_of(env.caches, cluster.key)) {
    const resources::voter first{resources::broker_id(*pool, 0), resources::pod_name(*pool, 0)};
    if (stateful_set_of(env.caches, *pool) != nullptr) running.push_back(first);
    if (std::ranges::find(claims.pods, first.pod) != claims.pods.end()) with_data.push_back(first);
  }
  if (running.size() == 1 && claims.pods.size() <= 1) return running;
  if (with_data.size() == 1 && claims.pods.size() == 1) return with_data;
  const auto key = identity_key(cluster).to_string();
  return fail(write_errc::name_taken,
              fmt::format("ConfigMap {} does not name the brokers that vote, and {} brokers have data: restore it from "
                          "a backup, or set its voters as in \"0=POOL-0,1=POOL-1,2=POOL-2\"",
                          key, claims.pods.size()));
}

result<resources::voter_list> first_voters(environment& env, const api::braid_cluster& cluster) {
  std::optional<problem> why_not;
  auto voters = plan_voters(env.caches, cluster, why_not);
  if (why_not) return fail(write_errc::name_taken, why_not->message);
  return voters;
}

// The ConfigMap is gone, or there never was one: what the status and the volumes know comes first.
result<resources::identity> found_anew(environment& env, const api::braid_cluster& cluster) {
  BRAID_TRY(claims, find_claims(env, cluster.key));
  if (!cluster.cluster_id.empty()) {
    // All volumes gone, too: its brokers will say so. There is nothing to recover their names from.
    const bool nothing_left = !claims.any && voters_of_status(cluster).empty();
    BRAID_TRY(voters, nothing_left ? first_voters(env, cluster) : recover_voters(env, cluster, claims));
    tell(env, cluster, "IdentityRestored", fmt::format("cluster id {} from the status", cluster.cluster_id));
    return make(env, cluster, {.cluster_id = cluster.cluster_id, .existing = true, .voters = std::move(voters)});
  }
  if (!claims.cluster_id.empty()) {
    BRAID_TRY(voters, recover_voters(env, cluster, claims));
    tell(env, cluster, "IdentityRestored", fmt::format("cluster id {} from its volume claims", claims.cluster_id));
    return make(env, cluster, {.cluster_id = claims.cluster_id, .existing = true, .voters = std::move(voters)});
  }
  BRAID_TRY(voters, first_voters(env, cluster));
  const auto id = env.random.next_uuid().to_string();
  tell(env, cluster, "ClusterIdMade", fmt::format("cluster id {}, voters {}", id, resources::voters_text(voters)));
  return make(env, cluster, {.cluster_id = id, .existing = false, .voters = std::move(voters)});
}

status write_voters(environment& env, const api::braid_cluster& cluster, const json& live,
                    const resources::voter_list& voters) {
  json operations =
      json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", k8s::resource_version_of(live)}},
                   {{"op", "add"},
                    {"path", fmt::format("/data/{}", resources::voters_key)},
                    {"value", resources::voters_text(voters)}}});
  return just_status(env.api.json_patch(api::config_map_type, identity_key(cluster), operations));
}

// Names the voters where the identity does not yet; names others only while nothing has been started with them.
status complete(environment& env, const api::braid_cluster& cluster, const json& live, resources::identity& who) {
  if (!who.voters.empty() && who.existing) return {};
  const auto pools = pools_of(env.caches, cluster.key);
  const bool started =
      std::ranges::any_of(pools, [&](const auto& pool) { return stateful_set_of(env.caches, *pool) != nullptr; });
  if (!who.voters.empty() && started) return {};
  BRAID_TRY(claims, find_claims(env, cluster.key));
  const bool fresh = !started && !claims.any;
  if (!who.voters.empty() && !fresh) return {};
  BRAID_TRY(voters, fresh ? first_voters(env, cluster) : recover_voters(env, cluster, claims));
  if (voters == who.voters) return {};
  BRAID_TRY_VOID(write_voters(env, cluster, live, voters));
  who.voters = std::move(voters);
  tell(env, cluster, "VotersNamed", fmt::format("voters {}", resources::voters_text(who.voters)));
  return {};
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
    return fail(write_errc::name_taken, fmt::format("ConfigMap {} holds no cluster.id, or voters that cannot be read: "
                                                    "restore it from a backup, or delete it when this cluster has "
                                                    "no data yet",
                                                    identity_key(cluster).to_string()));
  }
  BRAID_TRY(left_over, is_left_over(env, cluster, *who));
  if (!left_over) {
    BRAID_TRY_VOID(complete(env, cluster, *live, *who));
    return *who;
  }
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
  tell(env, cluster, "ClusterFounded", fmt::format("its brokers have founded cluster {}", who.cluster_id));
  return true;
}

}  // namespace braidmq::reconcile

#include "reconcile/pool.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/claims.hpp"
#include "reconcile/deletion_wait.hpp"
#include "reconcile/pending.hpp"
#include "reconcile/pod_problem.hpp"
#include "reconcile/pool_status.hpp"
#include "reconcile/write.hpp"
#include "resources/broker_config.hpp"
#include "resources/compare.hpp"
#include "resources/stateful_set.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto look_again = std::chrono::seconds(5);
constexpr auto refused_retry = std::chrono::seconds(30);
constexpr auto deletion_step = std::chrono::seconds(2);

// What is missing before a StatefulSet can be written.
std::optional<problem> not_yet(environment& env, const api::braid_cluster& cluster,
                               const std::optional<resources::identity>& who) {
  if (!who || who->voters.empty()) return problem{"WaitingForCluster", "the cluster's identity is being made"};
  if (env.caches.config_maps.find({cluster.key.namespace_name, resources::config_name(cluster.key.name)}) == nullptr)
    return problem{"WaitingForCluster", "the cluster's ConfigMap is being made"};
  return std::nullopt;
}

// A pod in which nothing runs and whose template has changed since gets the new one only by being made anew.
status replace_broken(environment& env, const pool_view& view, const std::string& revision) {
  const auto& set = view.set;
  if (set == nullptr || set->observed_generation < set->generation || revision_of(*set) != revision) return {};
  for (const auto& pod : view.pods) {
    const auto* has = api::find(pod->annotations, resources::revision_annotation);
    if (pod->owner_uid != set->uid || (has != nullptr && *has == revision) || !is_broken(*pod, env.now_s())) continue;
    const auto live = env.api.get(api::pod_type, pod->key);
    if (!live || k8s::uid_of(*live) != pod->uid || !is_broken(api::read_pod(*live), env.now_s())) continue;
    BRAID_TRY_VOID(env.api.remove(api::pod_type, pod->key,
                                  {.uid = pod->uid, .resource_version = std::string(k8s::resource_version_of(*live))}));
    env.events.record(reference(api::pool_type, *view.pool), k8s::event_type::normal, "PodReplaced", "DeletePod",
                      fmt::format("pod {} could not start and is made anew from the changed template", pod->key.name));
  }
  return {};
}

status write_set(environment& env, pool_view& view) {
  const auto& cluster = *view.cluster;
  const auto who = cached_identity(env.caches, cluster.key);
  view.refused = not_yet(env, cluster, who);
  if (view.refused) return {};
  view.refused = scope_problem(*view.pool, *who, view.set != nullptr);
  if (view.refused) return {};
  if (auto wrong = resources::config_problem(cluster)) {
    // A cluster that runs goes on with what it has; its own condition tells of it.
    if (view.set == nullptr) view.refused = problem{"InvalidConfig", std::move(*wrong)};
    return {};
  }
  const resources::pod_inputs inputs{.image = cluster.image.empty() ? env.settings.default_image : cluster.image,
                                     .config_hash = resources::config_hash(cluster, *who),
                                     .cluster_id = who->cluster_id,
                                     .cluster_domain = env.settings.cluster_domain,
                                     .voters = who->voters};
  auto sized = *view.pool;
  sized.replicas = replicas_of(sized, *who);
  auto wanted = resources::stateful_set(cluster, sized, inputs);
  if (view.set != nullptr) view.held = hold_back(wanted, view.set->body, who->existing);
  if (auto held = held_replicas(*view.pool, *who); !held.empty()) view.held.insert(view.held.begin(), std::move(held));
  const auto applied = apply_if_different(env, api::stateful_set_type, wanted, view.set.get());
  if (!applied) {
    if (applied.error().code != write_errc::name_taken && applied.error().code != k8s::errc::invalid &&
        applied.error().code != k8s::errc::forbidden)
      return tl::unexpected(applied.error());
    view.refused = problem{applied.error().code == write_errc::name_taken ? "NameTaken" : "StatefulSetRefused",
                           applied.error().to_string()};
    return {};
  }
  if (*applied && view.set == nullptr) {
    env.events.record(reference(api::pool_type, *view.pool), k8s::event_type::normal, "StatefulSetCreated",
                      "CreateStatefulSet", fmt::format("brokers of image {}", inputs.image));
  }
  return replace_broken(env, view,
                        wanted["spec"]["template"]["metadata"]["annotations"][resources::revision_annotation]);
}

// Without its cluster a pool runs no brokers; their volumes stay.
status stop_without_cluster(environment& env, pool_view& view) {
  const auto key = view.pool->cluster_key();
  view.refused = problem{"ClusterMissing", fmt::format("there is no BraidCluster {} in namespace {}: apply it",
                                                       key.name, key.namespace_name)};
  if (view.set == nullptr) return {};
  BRAID_TRY(gone, cluster_is_gone(env, key));
  if (!gone) return {};
  BRAID_TRY_VOID(remove_if_there(env, api::stateful_set_type, view.set.get()));
  return {};
}

result<outcome> say_wait(environment& env, const pool_ptr& pool, const deletion_wait& waits) {
  pool_view view;
  view.pool = pool;
  view.set = stateful_set_of(env.caches, *pool);
  view.pods = pods_of(env.caches, *pool);
  BRAID_TRY_VOID(write_deletion_wait(env, api::pool_type, *pool, pool->status_hash, pool->conditions,
                                     pool_status(view, env.now_s()), waits));
  return again_after(deletion_step);
}

// Ours is not there, or not any more: nothing is left to be done here.
result<outcome> wait_for_others(environment& env, const pool_ptr& pool) {
  deletion_wait waits(env, *pool);
  waits.add_foreign_finalizers(pool_finalizer);
  if (!waits.any()) return done();
  if (!waits.lasts()) return again_after(waits.until_it_lasts());
  BRAID_TRY_VOID(just_status(say_wait(env, pool, waits)));
  return done();
}

result<outcome> finish_deletion(environment& env, const pool_ptr& which) {
  const auto& pool = *which;
  if (!pool.has_finalizer(pool_finalizer)) return wait_for_others(env, which);
  const auto release = [&]() -> result<outcome> {
    BRAID_TRY_VOID(remove_finalizer(env, api::pool_type, pool, pool_finalizer));
    return done();
  };
  if (pool.is_set(api::abandon_annotation) || pool.reclaim != api::deletion_policy::remove) return release();
  const auto set = stateful_set_of(env.caches, pool);
  BRAID_TRY_VOID(remove_if_there(env, api::stateful_set_type, set.get()));
  const auto selector = pool_selector_text(pool.cluster, pool.key.name);
  deletion_wait waits(env, pool);
  BRAID_TRY(running, live_pods(env, pool.key.namespace_name, selector));
  waits.add_pods(running);
  if (set != nullptr) waits.add_set(set->key);
  if (waits.any()) return say_wait(env, which, waits);
  const auto who = cached_identity(env.caches, pool.cluster_key());
  if (who) {
    BRAID_TRY(left, delete_claims(env, pool.key.namespace_name, selector, who->cluster_id));
    waits.add_claims(left);
    if (waits.any()) return say_wait(env, which, waits);
  }
  return release();
}

status keep_finalizer(environment& env, const api::braid_pool& pool) {
  if (pool.reclaim == api::deletion_policy::remove) return add_finalizer(env, api::pool_type, pool, pool_finalizer);
  return remove_finalizer(env, api::pool_type, pool, pool_finalizer);
}

}  // namespace

result<outcome> reconcile_pool(environment& env, const object_key& key) {
  pool_view view;
  view.pool = env.caches.pools.find(key);
  if (view.pool == nullptr) return gone();
  if (view.pool->deleting) return finish_deletion(env, view.pool);
  view.cluster = env.caches.clusters.find(view.pool->cluster_key());
  view.set = stateful_set_of(env.caches, *view.pool);
  view.pods = pods_of(env.caches, *view.pool);
  const bool alone = view.cluster == nullptr || view.cluster->deleting;
  if (!alone && view.cluster->paused) {
    view.paused = true;
  } else {
    BRAID_TRY_VOID(keep_finalizer(env, *view.pool));
    if (alone) {
      BRAID_TRY_VOID(stop_without_cluster(env, view));
    } else {
      BRAID_TRY_VOID(write_set(env, view));
    }
  }
  if (!view.refused) view.trouble = pool_problem(env, *view.pool, view.set, view.pods);
  BRAID_TRY(pause, write_pool_status(env, view));
  if (pause > io::duration{}) return again_after(pause);
  // Brokers of a cluster that is gone go one after the other; the status must tell of the last one too.
  if (alone && (view.set != nullptr || !view.pods.empty())) return again_after(look_again);
  if (view.refused && (view.refused->reason == "NameTaken" || view.refused->reason == "StatefulSetRefused"))
    return again_after(refused_retry);  // quotas and what others own are not watched
  if (const auto left = until_unscheduled_is_told(view.pods, env.now_s())) return again_after(*left);
  const bool settled = view.set != nullptr && is_pool_ready(view);
  return settled || (view.refused && view.refused->reason != "WaitingForCluster") ? done() : again_after(look_again);
}

}  // namespace braidmq::reconcile

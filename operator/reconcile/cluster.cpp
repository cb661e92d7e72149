#include "reconcile/cluster.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/claims.hpp"
#include "reconcile/cluster_objects.hpp"
#include "reconcile/cluster_status.hpp"
#include "reconcile/deletion_wait.hpp"
#include "reconcile/identity_keeper.hpp"
#include "reconcile/write.hpp"
#include "resources/broker_config.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto look_again = std::chrono::seconds(5);
constexpr auto refused_retry = std::chrono::seconds(30);
constexpr auto deletion_step = std::chrono::seconds(2);

status keep_finalizer(environment& env, const api::braid_cluster& cluster) {
  if (cluster.deletion_policy == api::deletion_policy::remove)
    return add_finalizer(env, api::cluster_type, cluster, api::cluster_finalizer);
  return remove_finalizer(env, api::cluster_type, cluster, api::cluster_finalizer);
}

result<outcome> say_wait(environment& env, const api::braid_cluster& cluster, const deletion_wait& waits) {
  BRAID_TRY_VOID(write_deletion_wait(env, api::cluster_type, cluster, cluster.status_hash, cluster.conditions,
                                     cluster.status.is_object() ? cluster.status : json::object(), waits));
  return again_after(deletion_step);
}

// Ours is not there, or not any more: nothing is left to be done here.
result<outcome> wait_for_others(environment& env, const api::braid_cluster& cluster) {
  deletion_wait waits(env, cluster);
  waits.add_foreign_finalizers(api::cluster_finalizer);
  if (!waits.any()) return done();
  if (!waits.lasts()) return again_after(waits.until_it_lasts());
  BRAID_TRY_VOID(just_status(say_wait(env, cluster, waits)));
  return done();
}

// deletionPolicy Delete: brokers first (their pools see to that), then volumes, then the identity.
result<outcome> finish_deletion(environment& env, const api::braid_cluster& cluster) {
  if (!cluster.has_finalizer(api::cluster_finalizer)) return wait_for_others(env, cluster);
  const bool abandoned = cluster.is_set(api::abandon_annotation);
  if (!abandoned && cluster.deletion_policy == api::deletion_policy::remove) {
    const auto& ns = cluster.key.namespace_name;
    const auto selector = cluster_selector_text(cluster.key.name);
    deletion_wait waits(env, cluster);
    BRAID_TRY(running, live_pods(env, ns, selector));
    waits.add_pods(running);
    for (const auto& pool : pools_of(env.caches, cluster.key)) {
      if (stateful_set_of(env.caches, *pool) != nullptr) waits.add_set(pool->key);
    }
    if (waits.any()) return say_wait(env, cluster, waits);
    const object_key identity{ns, resources::identity_name(cluster.key.name)};
    const auto live = env.api.get(api::config_map_type, identity);
    if (!live && live.error().code != k8s::errc::not_found) return tl::unexpected(live.error());
    if (live) {
      const auto who = resources::read_identity(*live);
      if (who) {
        BRAID_TRY(left, delete_claims(env, ns, selector, who->cluster_id));
        waits.add_claims(left);
        if (waits.any()) return say_wait(env, cluster, waits);
      }
      BRAID_TRY_VOID(env.api.remove(
          api::config_map_type, identity,
          {.uid = std::string(k8s::uid_of(*live)), .resource_version = std::string(k8s::resource_version_of(*live))}));
    }
  }
  BRAID_TRY_VOID(remove_finalizer(env, api::cluster_type, cluster, api::cluster_finalizer));
  return done();
}

// Voters are chosen once: the pools that are applied together with one that has just come have to be seen first.
io::duration until_pools_are_there(const environment& env, const api::braid_cluster& cluster) {
  constexpr std::int64_t settle_s = 2;
  if (cached_identity(env.caches, cluster.key)) return {};
  std::int64_t newest = 0;
  for (const auto& pool : pools_of(env.caches, cluster.key)) newest = std::max(newest, pool->created_s);
  const auto age = env.now_s() - newest;
  // Of a clock that is far from ours nothing follows.
  return std::chrono::seconds(age >= -settle_s && age < settle_s ? std::min(settle_s - age, settle_s) : 0);
}

cluster_view look_at(environment& env, cluster_ptr cluster) {
  cluster_view view;
  view.cluster = std::move(cluster);
  for (auto& pool : pools_of(env.caches, view.cluster->key)) {
    pool_parts parts{.pool = pool, .set = stateful_set_of(env.caches, *pool), .pods = pods_of(env.caches, *pool)};
    view.pools.push_back(std::move(parts));
  }
  view.state = env.brokers.find(view.cluster->key);
  view.who = cached_identity(env.caches, view.cluster->key);
  return view;
}

// Identity, and everything that needs it.
status build(environment& env, cluster_view& view) {
  const auto& cluster = *view.cluster;
  const auto who = keep_identity(env, cluster);
  if (!who) {
    const auto& why = who.error();
    if (why.code == write_errc::name_taken) {
      view.refused = problem{"IdentityLost", why.message};
    } else if (why.code == k8s::errc::invalid || why.code == k8s::errc::forbidden) {
      view.refused = problem{"Refused", why.to_string()};  // a quota, a policy
    } else {
      return tl::unexpected(why);
    }
    return {};
  }
  view.who = *who;
  BRAID_TRY_VOID(just_status(note_founding(env, cluster, *view.state, *view.who)));
  if (view.config_wrong) return {};  // what brokers read stays as it was
  BRAID_TRY(refused, keep_cluster_objects(env, cluster, *view.who));
  view.refused = std::move(refused);
  return {};
}

void tell_of_change(environment& env, const cluster_view& view, const json& status) {
  std::vector<std::string> ignored;
  const auto now = api::read_conditions({{"status", status}});
  const auto* ready = api::find(now, "Ready");
  const auto* before = api::find(view.cluster->conditions, "Ready");
  if (ready == nullptr) return;
  const bool good = ready->status == api::condition_status::yes;
  const bool was_good = before != nullptr && before->status == api::condition_status::yes;
  if (good == was_good && (good || (before != nullptr && before->reason == ready->reason))) return;
  const auto* stalled = api::find(now, "Stalled");
  const bool warn = !good && (was_good || (stalled != nullptr && stalled->status == api::condition_status::yes));
  env.events.record(reference(api::cluster_type, *view.cluster),
                    warn ? k8s::event_type::warning : k8s::event_type::normal, ready->reason, "Reconcile",
                    ready->message);
}

}  // namespace

result<outcome> reconcile_cluster(environment& env, const object_key& key) {
  auto cluster = env.caches.clusters.find(key);
  if (cluster == nullptr) {
    env.brokers.forget(key);
    return gone();
  }
  if (cluster->deleting) return finish_deletion(env, *cluster);
  auto view = look_at(env, std::move(cluster));
  bool refused_by_others = false;
  if (!view.cluster->paused) {
    BRAID_TRY_VOID(keep_finalizer(env, *view.cluster));
    view.refused = scope_problem(env.caches, *view.cluster);
    view.config_wrong = resources::config_problem(*view.cluster);
    if (const auto left = until_pools_are_there(env, *view.cluster); !view.refused && left > io::duration{})
      return again_after(left);
    if (!view.refused) {
      BRAID_TRY_VOID(build(env, view));
      refused_by_others = view.refused.has_value();
    }
  }
  const auto status = cluster_status(env, view);
  const auto& row = *view.cluster;
  BRAID_TRY(pause, write_status(env, api::cluster_type, row, row.status_hash, row.conditions, status));
  if (pause > io::duration{}) return again_after(pause);
  tell_of_change(env, view, status);
  // Secrets, quotas and what others own are not watched.
  if (refused_by_others) return again_after(refused_retry);
  return is_settled(status) || view.refused ? done() : again_after(look_again);
}

}  // namespace braidmq::reconcile

#include "reconcile/scope.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

problem too_many(int brokers) {
  return {
      "MoreThanOneBroker",
      fmt::format("{} brokers are asked for and this version runs clusters of one: set spec.replicas of the cluster's "
                  "BraidPools so that they add up to 1",
                  brokers)};
}

bool runs(const caches& from, const std::vector<pool_ptr>& pools) {
  return std::ranges::any_of(pools, [&](const auto& pool) { return stateful_set_of(from, *pool) != nullptr; });
}

int wanted_brokers(const std::vector<pool_ptr>& pools) {
  int sum = 0;
  for (const auto& pool : pools) sum += pool->replicas;
  return sum;
}

}  // namespace

std::vector<pool_ptr> pools_of(const caches& from, const object_key& cluster) {
  auto pools = from.pools.all();
  std::erase_if(pools, [&](const pool_ptr& pool) { return pool->deleting || pool->cluster_key() != cluster; });
  return pools;
}

std::vector<pod_ptr> pods_of(const caches& from, const api::braid_pool& pool) {
  auto pods = from.pods.all();
  std::erase_if(pods, [&](const pod_ptr& pod) {
    const auto* label = api::find(pod->labels, resources::pool_label);
    return pod->key.namespace_name != pool.key.namespace_name || label == nullptr || *label != pool.key.name;
  });
  return pods;
}

std::vector<topic_ptr> topics_of(const caches& from, const object_key& cluster) {
  return from.topics.find_by(cluster.namespace_name, cluster.name);
}

std::shared_ptr<const api::stateful_set> stateful_set_of(const caches& from, const api::braid_pool& pool) {
  auto found = from.stateful_sets.find(pool.key);
  return found != nullptr && found->owner_uid == pool.uid ? found : nullptr;
}

std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster,
                                     const api::braid_pool& pool) {
  if (stateful_set_of(from, pool) != nullptr) return std::nullopt;
  const auto pools = pools_of(from, cluster.key);
  if (pool.replicas == 0) return problem{"NoBrokers", "spec.replicas is 0: set it to 1 to run a broker"};
  if (wanted_brokers(pools) > 1 || runs(from, pools)) return too_many(wanted_brokers(pools));
  return std::nullopt;
}

int brokers_of(const caches& from, const api::braid_cluster& cluster, const api::braid_pool& pool) {
  if (const auto set = stateful_set_of(from, pool); set != nullptr) {
    const auto* replicas = k8s::find(set->body, {"spec", "replicas"});
    return replicas != nullptr && replicas->is_number_integer() ? replicas->get<int>() : 1;  // the server's default
  }
  return scope_problem(from, cluster, pool) ? 0 : pool.replicas;
}

std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster) {
  const auto pools = pools_of(from, cluster.key);
  if (pools.empty()) {
    return problem{"NoPool", fmt::format("no BraidPool of namespace {} refers to this cluster: apply one with "
                                         "spec.clusterRef.name: {}",
                                         cluster.key.namespace_name, cluster.key.name)};
  }
  if (runs(from, pools)) return std::nullopt;
  const auto brokers = wanted_brokers(pools);
  if (brokers > 1) return too_many(brokers);
  if (brokers == 0) return problem{"NoBrokers", "spec.replicas of all its BraidPools is 0: set one to 1"};
  return std::nullopt;
}

result<bool> cluster_is_gone(environment& env, const object_key& cluster) {
  const auto live = env.api.get(api::cluster_type, cluster);
  if (live) return k8s::is_deleting(*live);
  if (live.error().code == k8s::errc::not_found) return true;
  return tl::unexpected(live.error());
}

}  // namespace braidmq::reconcile

#include "reconcile/scope.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

bool runs(const caches& from, const std::vector<pool_ptr>& pools) {
  return std::ranges::any_of(pools, [&](const auto& pool) { return stateful_set_of(from, *pool) != nullptr; });
}

int wanted_brokers(const std::vector<pool_ptr>& pools) {
  int sum = 0;
  for (const auto& pool : pools) sum += pool->replicas;
  return sum;
}

bool is_stopped(const api::braid_pool& pool, const resources::identity& who) {
  return !who.existing && pool.replicas == 0;
}

std::string broker_words(const api::braid_pool& pool, int from, int to) {
  constexpr int most = 20;
  std::vector<std::int32_t> ids;
  for (int ordinal = from; ordinal < to && ordinal < from + most; ++ordinal)
    ids.push_back(resources::broker_id(pool, ordinal));
  return fmt::format("broker{} {}{}", to - from == 1 ? "" : "s", fmt::join(ids, ", "),
                     to - from > most ? fmt::format(" and {} more", to - from - most) : "");
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

std::optional<resources::identity> cached_identity(const caches& from, const object_key& cluster) {
  const auto row = from.config_maps.find({cluster.namespace_name, resources::identity_name(cluster.name)});
  return row == nullptr ? std::nullopt : resources::read_identity(row->body);
}

resources::voter_list plan_voters(const caches& from, const api::braid_cluster& cluster,
                                  std::optional<problem>& why_not) {
  const auto pools = pools_of(from, cluster.key);
  std::vector<const api::braid_pool*> all;
  for (const auto& pool : pools) {
    if (pool->replicas == 0) continue;
    for (const auto* other : all) {
      if (other->index != pool->index) continue;
      why_not = problem{"SameIndex", fmt::format("BraidPools {} and {} both have spec.index {}, which ids of brokers "
                                                 "are made from: delete one and apply it with another index",
                                                 other->key.name, pool->key.name, pool->index)};
      return {};
    }
    all.push_back(pool.get());
  }
  const auto brokers = wanted_brokers(pools);
  const auto count = static_cast<int>(cluster.braid_replicas.value_or(resources::default_voters(brokers)));
  if (count % 2 == 0) {
    why_not = problem{"EvenReplicas", fmt::format("spec.braidReplicas is {}: set it to an odd number; of an even one, "
                                                  "one more has to be there for the same number that may be away",
                                                  count)};
    return {};
  }
  if (count > brokers) {
    why_not =
        problem{"TooFewBrokers", fmt::format("spec.braidReplicas is {} and the BraidPools have {} brokers: raise their "
                                             "spec.replicas, or lower spec.braidReplicas before the cluster is made",
                                             count, brokers)};
    return {};
  }
  return resources::choose_voters(all, count);
}

std::optional<problem> scope_problem(const api::braid_pool& pool, const resources::identity& who, bool runs) {
  if (runs) return std::nullopt;
  if (pool.replicas == 0) return problem{"NoBrokers", "spec.replicas is 0: set it to 1 or more to run brokers"};
  if (resources::voters_of_pool(who.voters, pool) > 0) return std::nullopt;
  return problem{"CarriesNoBraid",
                 fmt::format("{} of this pool would carry no braid, which is not built yet: they are "
                             "not started; delete the pool. Brokers that vote: {}",
                             broker_words(pool, 0, pool.replicas), resources::voters_text(who.voters))};
}

int replicas_of(const api::braid_pool& pool, const resources::identity& who) {
  return is_stopped(pool, who) ? 0 : resources::voters_of_pool(who.voters, pool);
}

std::string held_replicas(const api::braid_pool& pool, const resources::identity& who) {
  const auto votes = resources::voters_of_pool(who.voters, pool);
  if (pool.replicas > votes) {
    return fmt::format(
        "spec.replicas from {0} to {1}: {2} would carry no braid, which is not built yet, and are not "
        "started; set it back to {0}",
        votes, pool.replicas, broker_words(pool, votes, pool.replicas));
  }
  if (pool.replicas == votes || is_stopped(pool, who)) return {};
  return fmt::format(
      "spec.replicas from {0} to {1}: {2} vote in the cluster's log, and taking a vote away is not built "
      "yet; set it back to {0}",
      votes, pool.replicas, broker_words(pool, pool.replicas, votes));
}

std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster) {
  const auto pools = pools_of(from, cluster.key);
  if (pools.empty()) {
    return problem{"NoPool", fmt::format("no BraidPool of namespace {} refers to this cluster: apply one with "
                                         "spec.clusterRef.name: {}",
                                         cluster.key.namespace_name, cluster.key.name)};
  }
  if (runs(from, pools)) return std::nullopt;
  if (wanted_brokers(pools) == 0)
    return problem{"NoBrokers", "spec.replicas of all its BraidPools is 0: set one to 1 or more"};
  if (const auto who = cached_identity(from, cluster.key); who && who->existing) return std::nullopt;
  std::optional<problem> why_not;
  plan_voters(from, cluster, why_not);
  return why_not;
}

result<bool> cluster_is_gone(environment& env, const object_key& cluster) {
  const auto live = env.api.get(api::cluster_type, cluster);
  if (live) return k8s::is_deleting(*live);
  if (live.error().code == k8s::errc::not_found) return true;
  return tl::unexpected(live.error());
}

}  // namespace braidmq::reconcile

#include "reconcile/poll.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/listeners.hpp"
#include "reconcile/scope.hpp"
#include "reconcile/secret_keeper.hpp"
#include "reconcile/topic_survey.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto settled_interval = std::chrono::seconds(3);
constexpr auto starting_interval = std::chrono::seconds(1);

// Without what moves by itself.
admin_client::cluster_info shown_part(admin_client::cluster_info info) {
  info.metadata_index = 0;
  for (auto& braid : info.braids) {
    braid.leader = braid.leader < 0 ? -1 : 0;
    braid.term = braid.commit_index = braid.applied_index = braid.visible_index = 0;
  }
  return info;
}

// Pushes the addresses that one broker does not have yet. True when one was.
bool push_addresses(environment& env, const api::braid_cluster& cluster, const api::pod& pod, std::int32_t id,
                    const admin_client::cluster_info& info) {
  const auto self = std::ranges::find(info.brokers, id, &admin_client::broker_info::id);
  bool pushed = false;
  for (const auto& wanted : pushed_addresses(env, cluster, pod)) {
    if (self != info.brokers.end() && std::ranges::find(self->listeners, wanted) != self->listeners.end()) continue;
    const auto broker = connect_to(env, cluster.key, pod);
    if (!broker) continue;
    const auto told = (*broker)->set_listener(wanted);
    pushed |= told.has_value();
    if (told) continue;
    // Not founded yet, or without a leader: the next poll tries again and nobody needs to know.
    const bool later = told.error().code == admin_client::errc::not_controller ||
                       told.error().code == admin_client::errc::request_timed_out || info.cluster_id.empty() ||
                       (!pod.ready && told.error().code == admin_client::errc::unreachable);
    if (later) continue;
    env.events.record(reference(api::cluster_type, cluster), k8s::event_type::warning, "ListenerNotAdvertised",
                      "AdvertiseListener",
                      fmt::format("broker {} was told {}://{}:{} and answers: {}", id, wanted.name, wanted.host,
                                  wanted.port, told.error().to_string()));
  }
  return pushed;
}

// Each broker takes its own addresses only.
bool push_all_addresses(environment& env, const api::braid_cluster& cluster, const std::vector<pod_ptr>& pods,
                        const admin_client::cluster_info& info) {
  const auto who = cached_identity(env.caches, cluster.key);
  bool pushed = false;
  for (const auto& pod : pods) {
    auto id = info.broker_id;
    if (who && who->voters.size() > 1) {
      const auto voter = std::ranges::find(who->voters, pod->key.name, &resources::voter::pod);
      if (voter == who->voters.end()) continue;
      id = voter->id;
    }
    pushed |= push_addresses(env, cluster, *pod, id, info);
  }
  return pushed;
}

// Of brokers that run and are not ready: the first reason that each gives.
std::map<std::string, std::string> ask_unready(environment& env, const object_key& key,
                                               const std::vector<pod_ptr>& pods) {
  constexpr std::size_t most_words = 300;
  std::map<std::string, std::string> reasons;
  const auto who = cached_identity(env.caches, key);
  if (!who || who->voters.size() <= 1) return reasons;
  for (const auto& pod : pods) {
    if (pod->ready) continue;
    const auto broker = connect_to(env, key, *pod);
    if (!broker) continue;
    const auto told = (*broker)->ready();
    if (told && !told->ready && !told->reasons.empty())
      reasons.emplace(pod->key.name, api::shorten(told->reasons.front(), most_words));
  }
  return reasons;
}

struct answers {
  admin_client::cluster_info cluster;
  std::vector<object_key> topics;
};

// All that a poll asks: it has failed when any of it has, so that what was not heard is asked for again.
result<answers> ask(environment& env, const object_key& key, const api::pod& pod, admin_client::client& broker) {
  answers got;
  BRAID_TRY(cluster, broker.cluster());
  got.cluster = std::move(cluster);
  const auto known = env.brokers.find(key);
  const auto& last = known->info;
  // What it refused before, a broker that was started again may take; what had to wait for it need wait no longer.
  const bool is_new = !known->answered || !known->reachable(env.clock.now()) || known->pod_uid != pod.uid ||
                      last.cluster_id != got.cluster.cluster_id ||
                      last.replication_factor != got.cluster.replication_factor;
  // The index is from before the list: what changes meanwhile has a higher one and is looked at by the next poll.
  if (is_new || last.metadata_index != got.cluster.metadata_index) {
    BRAID_TRY(topics, topics_to_look_at(env.caches, key, broker, is_new));
    got.topics = std::move(topics);
  }
  return got;
}

}  // namespace

std::vector<pod_ptr> pods_to_ask(const environment& env, const object_key& cluster) {
  std::vector<pod_ptr> pods;
  for (const auto& pool : pools_of(env.caches, cluster)) {
    for (auto& pod : pods_of(env.caches, *pool)) {
      if (!pod->deleting && pod->broker.running && !pod->pod_ip.empty()) pods.push_back(pod);
    }
  }
  const auto known = env.brokers.find(cluster);
  std::ranges::sort(pods, {}, [&](const auto& pod) {
    const bool answered_last = !known->pod_uid.empty() && pod->uid == known->pod_uid;
    return std::tuple(!pod->ready, !answered_last, pod->key.name);
  });
  return pods;
}

std::shared_ptr<const api::pod> pod_to_ask(const environment& env, const object_key& cluster) {
  const auto pods = pods_to_ask(env, cluster);
  return pods.empty() ? nullptr : pods.front();
}

result<std::unique_ptr<admin_client::client>> connect_to(environment& env, const object_key& cluster,
                                                         const api::pod& pod) {
  // The secret is asked for right before each change, and a change without one is none.
  return env.connect(pod.pod_ip, [&env, cluster]() -> result<std::string> {
    BRAID_TRY(secret, read_cluster_secret(env.api, cluster));
    if (!env.may_write()) return fail(k8s::errc::not_leading, "the broker was not told: the Lease may be another's");
    return std::move(secret);
  });
}

poll_result poll_broker(environment& env, const object_key& key) {
  const auto cluster = env.caches.clusters.find(key);
  if (cluster == nullptr || cluster->deleting) {
    env.brokers.forget(key);
    return {};
  }
  const auto pods = pods_to_ask(env, key);
  auto pod = pods.empty() ? nullptr : pods.front();
  const auto now = env.clock.now();
  const auto known = env.brokers.find(key);
  const bool was_reachable = known->reachable(now);
  if (pod == nullptr) {
    // A restart takes seconds and flips nothing; one that lasts is a silence like any other. A pod that runs is heard
    // of.
    if (!known->answered) return {};
    env.brokers.absent(key, "no broker runs", now);
    const bool reachable = env.brokers.find(key)->reachable(now);
    poll_result found{.cluster_changed = reachable != was_reachable || known->failures == 0,
                      .topics = {},
                      .again_after = reachable ? std::optional<io::duration>(starting_interval) : std::nullopt};
    if (reachable != was_reachable) {
      for (const auto& topic : topics_of(env.caches, key)) found.topics.push_back(topic->key);
    }
    return found;
  }
  result<answers> info = fail(admin_client::errc::unreachable, "no broker runs");
  // Any broker knows the cluster; one whose node is gone may look ready for a while.
  for (const auto& one : pods) {
    auto broker = connect_to(env, key, *one);
    auto answer = broker ? ask(env, key, *one, **broker) : result<answers>(tl::unexpected(broker.error()));
    const bool first = one == pods.front();
    if (first || answer) info = std::move(answer);
    if (!info) continue;
    pod = one;
    break;
  }
  poll_result found;
  found.cluster_changed = env.brokers.heard_unready(key, ask_unready(env, key, pods));
  if (!info) {
    const auto before = env.brokers.failed(key, info.error().to_string(), now);
    found.cluster_changed |= env.brokers.find(key)->reachable(now) != was_reachable || before->failures == 2;
    found.again_after = starting_interval;
    return found;
  }
  const auto before = env.brokers.answered(key, pod->uid, info->cluster);
  found.cluster_changed |= !before->answered || !was_reachable || before->pod_uid != pod->uid ||
                           shown_part(before->info) != shown_part(info->cluster);
  found.topics = std::move(info->topics);
  const bool pushed = !cluster->paused && push_all_addresses(env, *cluster, pods, info->cluster);
  const bool settled = !pushed && api::is_true(cluster->conditions, "Ready");
  found.again_after = settled ? settled_interval : starting_interval;
  return found;
}

}  // namespace braidmq::reconcile

#include "reconcile/cluster_objects.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/list_page.hpp"
#include "reconcile/secret_keeper.hpp"
#include "reconcile/write.hpp"
#include "resources/broker_config.hpp"
#include "resources/budget.hpp"
#include "resources/compare.hpp"
#include "resources/network_policy.hpp"
#include "resources/pod_monitor.hpp"
#include "resources/services.hpp"
#include "resources/stateful_set.hpp"

namespace braidmq::reconcile {
namespace {

// The Services that should be there.
std::vector<json> services_of(const caches& from, const api::braid_cluster& cluster,
                              const resources::voter_list& voters) {
  std::vector<json> all = {resources::peer_service(cluster, resources::has_peers(voters))};
  if (auto bootstrap = resources::bootstrap_service(cluster)) all.push_back(std::move(*bootstrap));
  const auto pools = pools_of(from, cluster.key);
  for (const auto& listener : cluster.listeners) {
    if (listener.kind != api::listener_kind::node_port) continue;
    all.push_back(resources::node_bootstrap_service(cluster, listener));
    for (const auto& pool : pools) {
      for (int ordinal = 0; ordinal < resources::voters_of_pool(voters, *pool); ++ordinal)
        all.push_back(resources::node_port_service(cluster, *pool, ordinal, listener));
    }
  }
  return all;
}

// An apply leaves ports that somebody else put beside ours, or refuses two of one name. They are ours alone: replaced
// whole first, with the node ports that were given out.
status drop_foreign_ports(environment& env, const json& wanted, const api::owned_object* live) {
  const auto* there = live == nullptr ? nullptr : k8s::find(live->body, {"spec", "ports"});
  if (there == nullptr || !there->is_array()) return {};
  json ports = wanted["spec"]["ports"];
  const bool same = there->size() == ports.size() && resources::covers(*there, ports);
  if (same) return {};
  for (auto& port : ports) {
    for (const auto& old : *there) {
      const bool keeps = old.contains("nodePort") && !port.contains("nodePort") &&
                         old.value("name", std::string()) == port.value("name", std::string());
      if (keeps) port["nodePort"] = old["nodePort"];
    }
  }
  const json operations =
      json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", live->resource_version}},
                   {{"op", "replace"}, {"path", "/spec/ports"}, {"value", std::move(ports)}}});
  return just_status(env.api.json_patch(api::service_type, live->key, operations));
}

// A broker takes changed listeners when it is started again, and until then clients reach it where it listens.
bool runs_with_old_config(const caches& from, const api::braid_cluster& cluster, const resources::identity& who) {
  const auto now = resources::config_hash(cluster, who);
  for (const auto& pool : pools_of(from, cluster.key)) {
    for (const auto& pod : pods_of(from, *pool)) {
      const auto* has = api::find(pod->annotations, resources::config_annotation);
      if (!pod->deleting && has != nullptr && *has != now) return true;
    }
  }
  return false;
}

// `old_brokers`: what leads to them stays as it is; only what is missing is made.
status keep_services(environment& env, const api::braid_cluster& cluster, const resources::voter_list& voters,
                     bool old_brokers) {
  std::set<object_key> wanted;
  for (const auto& service : services_of(env.caches, cluster, voters)) {
    const auto key = k8s::key_of(service);
    const auto live = env.caches.services.find(key);
    wanted.insert(key);
    if (live != nullptr && live->owner_uid == cluster.uid && old_brokers) continue;
    if (live != nullptr && live->owner_uid == cluster.uid) BRAID_TRY_VOID(drop_foreign_ports(env, service, live.get()));
    BRAID_TRY_VOID(just_status(apply_if_different(env, api::service_type, service, live.get())));
  }
  if (old_brokers) return {};
  // Those of listeners that are gone.
  for (const auto& service : env.caches.services.all()) {
    if (service->owner_uid == cluster.uid && !wanted.contains(service->key))
      BRAID_TRY_VOID(remove_if_there(env, api::service_type, service.get()));
  }
  return {};
}

template <class Cache>
status keep_optional(environment& env, const k8s::resource_type& type, const Cache& cache,
                     const api::braid_cluster& cluster, const std::optional<json>& wanted) {
  const auto live = cache.find(cluster.key);
  if (wanted) {
    return just_status(apply_if_different(env, type, *wanted, live.get()));
  }
  if (live != nullptr && live->owner_uid == cluster.uid) return remove_if_there(env, type, live.get());
  return {};
}

// Its kind is there only with a Prometheus operator, so nothing watches it: asked for live.
status keep_pod_monitor(environment& env, const api::braid_cluster& cluster) {
  const auto object = env.api.get(api::pod_monitor_type, cluster.key);
  if (object) {
    const auto live = api::read_owned(*object);
    if (!cluster.pod_monitor)
      return live.owner_uid == cluster.uid ? remove_if_there(env, api::pod_monitor_type, &live) : status();
    return just_status(apply_if_different(env, api::pod_monitor_type, resources::pod_monitor(cluster), &live));
  }
  if (object.error().code == k8s::errc::forbidden) return {};  // nobody wants us to
  if (object.error().code != k8s::errc::not_found) return tl::unexpected(object.error());
  if (!cluster.pod_monitor) return {};
  const auto kind = env.api.list(api::pod_monitor_type, {.namespace_name = cluster.key.namespace_name, .limit = 1});
  if (!kind) return kind.error().code == k8s::errc::not_found ? status() : tl::unexpected(kind.error());
  return just_status(apply_if_different(env, api::pod_monitor_type, resources::pod_monitor(cluster), nullptr));
}

status keep_all(environment& env, const api::braid_cluster& cluster, const resources::identity& who) {
  BRAID_TRY_VOID(keep_secret(env, cluster));
  const auto config = resources::config_map(cluster, who);
  BRAID_TRY_VOID(just_status(
      apply_if_different(env, api::config_map_type, config, env.caches.config_maps.find(k8s::key_of(config)).get())));
  const bool old_brokers = runs_with_old_config(env.caches, cluster, who);
  BRAID_TRY_VOID(keep_services(env, cluster, who.voters, old_brokers));
  std::set<int> old_ports;
  if (const auto live = env.caches.network_policies.find(cluster.key); live != nullptr && old_brokers)
    old_ports = resources::admitted_ports(live->body);
  BRAID_TRY_VOID(keep_optional(env, api::network_policy_type, env.caches.network_policies, cluster,
                               cluster.network_policy ? std::optional(resources::network_policy(
                                                            cluster, old_ports, resources::has_peers(who.voters)))
                                                      : std::nullopt));
  const auto brokers = static_cast<int>(who.voters.size());
  BRAID_TRY_VOID(
      keep_optional(env, api::budget_type, env.caches.budgets, cluster, resources::budget(cluster, brokers)));
  return keep_pod_monitor(env, cluster);
}

}  // namespace

result<std::optional<problem>> keep_cluster_objects(environment& env, const api::braid_cluster& cluster,
                                                    const resources::identity& who) {
  const auto kept = keep_all(env, cluster, who);
  if (kept) return std::optional<problem>();
  const auto& why = kept.error();
  if (why.code == write_errc::name_taken) return std::optional(problem{"NameTaken", why.message});
  if (why.code == k8s::errc::invalid || why.code == k8s::errc::forbidden)
    return std::optional(problem{"Refused", why.to_string()});
  return tl::unexpected(why);
}

}  // namespace braidmq::reconcile

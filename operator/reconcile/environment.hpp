// What reconcilers work with. A reconciler is a function of a key: it reads caches, compares with what should be,
// writes what differs and says when to look again. It keeps nothing between calls but what stands here, so that being
// killed after any write and started again leads to the same end.
//
// Threads: one worker per kind calls them; everything in here may be shared between workers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "admin_client/admin_client.hpp"
#include "api/braid_cluster.hpp"
#include "api/braid_pool.hpp"
#include "api/owned.hpp"
#include "api/topic.hpp"
#include "io/clock.hpp"
#include "io/random.hpp"
#include "k8s/cache.hpp"
#include "k8s/client.hpp"
#include "k8s/event_recorder.hpp"
#include "reconcile/broker_states.hpp"
#include "reconcile/write_memory.hpp"

namespace braidmq::reconcile {

using k8s::json;
using k8s::object_key;

inline constexpr std::string_view field_manager = "braidmq-operator";
inline constexpr std::string_view status_manager = "braidmq-operator-status";

// Rows of informers.
struct caches {
  const k8s::cache<api::braid_cluster>& clusters;
  const k8s::cache<api::braid_pool>& pools;
  const k8s::cache<api::topic>& topics;
  // Only objects with the label app.kubernetes.io/managed-by=braidmq-operator.
  const k8s::cache<api::stateful_set>& stateful_sets;
  const k8s::cache<api::owned_object>& services;
  const k8s::cache<api::owned_object>& config_maps;
  const k8s::cache<api::owned_object>& budgets;
  const k8s::cache<api::owned_object>& network_policies;
  const k8s::cache<api::pod>& pods;
};

struct settings {
  std::string default_image;  // of brokers whose BraidCluster names none
  std::string cluster_domain = "cluster.local";
};

// Makes a client of one broker's HTTP API; `secret` is asked before each change.
using broker_connector = std::function<result<std::unique_ptr<admin_client::client>>(
    const std::string& host, std::function<result<std::string>()> secret)>;

struct environment {
  k8s::client& api;
  reconcile::caches caches;
  const io::clock& clock;
  k8s::event_recorder& events;
  io::random_source& random;
  broker_connector connect;
  reconcile::settings settings;
  broker_states brokers;
  write_memory writes;
  // Asked before each change of a broker; `api` asks for itself. False: this process may not lead any more.
  std::function<bool()> may_write = [] { return true; };
  std::atomic<bool> crds_outdated{false};  // the kinds on the server are older than this operator

  std::int64_t now_s() const { return clock.wall_ms() / 1000; }
};

// When to look again, though nothing is heard: nothing said means with the next resync. A failure is an error instead,
// and is retried with the queue's backoff.
struct outcome {
  std::optional<io::duration> again_after;
  bool gone = false;  // the object is not there: nothing to look again for
};

inline outcome done() {
  return {};
}
inline outcome again_after(io::duration delay) {
  return {delay};
}
inline outcome gone() {
  return {.again_after = std::nullopt, .gone = true};
}

// What keeps an object from what it should be, for conditions and events.
struct problem {
  std::string reason;   // CamelCase
  std::string message;  // with the fix
  friend bool operator==(const problem&, const problem&) = default;
};

k8s::object_reference reference(const k8s::resource_type& type, const api::row& row);

}  // namespace braidmq::reconcile

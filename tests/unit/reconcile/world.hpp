// An operator, an API server, the controllers that a real Kubernetes would have, and a broker, all on one thread and a
// clock that a test moves. The operator can be killed after any of its writes and started again.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fake_broker.hpp"
#include "played_brokers.hpp"
#include "reconcile/environment.hpp"
#include "sim/world/random_bytes.hpp"
#include "support/k8s/fake_client.hpp"
#include "support/manual_timers.hpp"

namespace braidmq::reconcile::testing {

// What informers would hold.
struct filled_caches {
  k8s::cache<api::braid_cluster> clusters;
  k8s::cache<api::braid_pool> pools;
  k8s::cache<api::topic> topics;
  k8s::cache<api::stateful_set> stateful_sets;
  k8s::cache<api::owned_object> services;
  k8s::cache<api::owned_object> config_maps;
  k8s::cache<api::owned_object> budgets;
  k8s::cache<api::owned_object> network_policies;
  k8s::cache<api::pod> pods;

  caches view() const {
    return {clusters, pools, topics, stateful_sets, services, config_maps, budgets, network_policies, pods};
  }
};

// Thrown in place of a SIGKILL: nothing between it and the test catches anything.
struct killed : std::runtime_error {
  killed() : std::runtime_error("the operator was killed") {}
};

// Counts the operator's writes, to the API server and to the broker alike.
struct kill_switch {
  int writes = 0;
  int kill_at = 0;  // 0: never

  void before_write() { ++writes; }
  void after_write() const {
    if (writes == kill_at) throw killed();
  }
};

struct told_event {
  std::string object;
  k8s::event_type type;
  std::string reason;
  std::string note;
};

class world {
 public:
  world();
  ~world();

  // --- as a user
  void apply(const k8s::resource_type& type, const std::string& text);  // creates, or replaces the spec
  void change(const k8s::resource_type& type, const std::string& name, const std::function<void(json&)>& edit);
  void erase(const k8s::resource_type& type, const std::string& name);  // as kubectl delete: finalizers hold
  void plain_cluster();  // BraidCluster prod and BraidPool prod-a, in namespace shop

  // --- time passes
  // Controllers, caches, every reconciler, the poll: again and again, a second each, until a round writes nothing.
  void settle(int max_rounds = 40);
  void round();
  void restart_operator();
  void run_controllers();
  void sync();
  result<outcome> reconcile(const k8s::resource_type& type, const std::string& name);

  // --- what is to be seen
  std::optional<json> read(const k8s::resource_type& type, const std::string& name) const;
  json condition(const k8s::resource_type& type, const std::string& name, const std::string& condition_type) const;
  std::string state(const k8s::resource_type& type, const std::string& name, const std::string& condition_type) const;
  std::string reason(const k8s::resource_type& type, const std::string& name, const std::string& condition_type) const;
  std::string message(const k8s::resource_type& type, const std::string& name, const std::string& condition_type) const;
  bool told(const std::string& event_reason) const;
  // Everything on the server and the broker, without what differs between two runs of the same.
  json end_state() const;
  int own_writes() const { return switch_.writes; }

  sim::manual_clock clock;
  k8s::testing::fake_client api{clock};
  fake_broker broker;
  kill_switch switch_;
  std::vector<told_event> events;
  std::string namespace_name = "shop";

  // --- how pods fare
  bool schedule = true;
  std::string unscheduled = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules";
  std::string bad_image;      // pods of this image do not get it
  std::string crash_message;  // the broker ends with these words
  bool pods_ready = true;
  std::set<std::string> kept_away;  // pods whose nodes are not there: nothing runs in them
  played_brokers brokers;           // of clusters of several voters

  // Its pod and its volume, gone for good; the StatefulSet makes others.
  void lose_volume(const std::string& pod);

  environment& env() { return *env_; }

 private:
  result<outcome> reconcile_synced(const k8s::resource_type& type, const std::string& name);
  class counting_client;
  class recorder;

  void run_set(const json& set);
  void run_pod(json pod);
  void start_broker(const json& pod, json& container);
  void start_voter(const json& pod, const std::string& cluster_id, bool may_found);
  std::size_t place_of(const std::string& pod);
  std::string pod_at(const std::string& address) const;

  std::unique_ptr<counting_client> client_;
  std::unique_ptr<recorder> recorder_;
  sim::random_bytes random_{42};
  std::unique_ptr<filled_caches> caches_;
  std::unique_ptr<environment> env_;
  std::vector<std::string> places_;  // pods by their address and node
  std::string data_of_;              // of a broker alone: the cluster id in the data folder; empty: never founded
};

}  // namespace braidmq::reconcile::testing

// Everything that works in one namespace, or in all: informers, the reconcilers' environment, queues and workers. A
// cluster and what belongs to it never leave their namespace, so units share nothing but the client.
//
// Threads: start_watching(), start_working() and stop() by the owner; figures from any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "k8s/controller.hpp"
#include "k8s/informer.hpp"
#include "operator_app/failure_log.hpp"
#include "operator_app/options.hpp"
#include "reconcile/environment.hpp"

namespace braidmq::operator_app {

class unit {
 public:
  // `may_write`: whether this process still leads, for what is written to brokers; `api` asks for itself.
  unit(
      k8s::client& api, k8s::event_recorder& events, const options& given, std::string namespace_name,
      std::function<bool()> may_write = [] { return true; });
  ~unit();

  void start_watching();
  void start_working();  // as leader
  void begin_stop();     // takes up nothing more, without waiting for what is under way
  void stop();

  // Kinds that have not been listed yet, in words.
  std::vector<std::string> not_synced() const;
  // Watches and workers that hang.
  std::vector<std::string> stuck() const;

  void set_crds_outdated(bool outdated);

  const std::string& namespace_name() const { return namespace_; }
  std::vector<const k8s::informer_base*> informers() const;
  // "BraidCluster", "BraidPool", "Topic", "poll".
  std::vector<std::pair<std::string, const k8s::controller*>> controllers() const;
  const reconcile::caches& rows() const;

 private:
  struct watches;
  void route_events();
  void make_controllers();
  k8s::reconcile_result poll(const k8s::object_key& cluster);

  std::string namespace_;
  std::unique_ptr<watches> watches_;
  std::unique_ptr<reconcile::environment> env_;
  failure_log failures_;
  std::unique_ptr<k8s::controller> clusters_;
  std::unique_ptr<k8s::controller> pools_;
  std::unique_ptr<k8s::controller> topics_;
  std::unique_ptr<k8s::controller> polls_;
  bool working_ = false;
};

}  // namespace braidmq::operator_app

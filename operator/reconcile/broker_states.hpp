// What brokers said last, by cluster. A call that fails changes nothing at once: a cluster counts as unreachable after
// 3 failures in a row or 60 s without an answer, so that one slow call never flips a condition.
//
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "admin_client/types.hpp"
#include "io/clock.hpp"
#include "k8s/object.hpp"

namespace braidmq::reconcile {

struct broker_state {
  bool answered = false;            // ever, since the operator runs
  admin_client::cluster_info info;  // of the last answer
  std::string pod_uid;              // who gave it
  // What brokers of a cluster of several say of why they are not ready, by pod.
  std::map<std::string, std::string> unready;
  int failures = 0;  // since then
  io::time_point failing_since{};
  std::string last_error;

  bool reachable(io::time_point now) const;
};

class broker_states {
 public:
  std::shared_ptr<const broker_state> find(const k8s::object_key& cluster) const;  // never null

  // Each returns what was known before.
  std::shared_ptr<const broker_state> answered(const k8s::object_key& cluster, const std::string& pod_uid,
                                               admin_client::cluster_info info);
  // True when that is news.
  bool heard_unready(const k8s::object_key& cluster, std::map<std::string, std::string> reasons);
  std::shared_ptr<const broker_state> failed(const k8s::object_key& cluster, const std::string& why,
                                             io::time_point now);
  // Nobody is there to be asked: counts by time alone, from the first such look.
  void absent(const k8s::object_key& cluster, const std::string& why, io::time_point now);
  void forget(const k8s::object_key& cluster);

 private:
  std::shared_ptr<const broker_state> put(const k8s::object_key& cluster, std::shared_ptr<const broker_state> next);

  mutable std::mutex mutex_;
  std::map<k8s::object_key, std::shared_ptr<const broker_state>> states_;
};

}  // namespace braidmq::reconcile

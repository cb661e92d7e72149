// The status of a BraidCluster, from what one pass has seen.
#pragma once

#include "reconcile/scope.hpp"
#include "resources/identity.hpp"

namespace braidmq::reconcile {

struct pool_parts {
  pool_ptr pool;
  std::shared_ptr<const api::stateful_set> set;  // or null
  std::vector<pod_ptr> pods;
};

struct cluster_view {
  cluster_ptr cluster;
  std::vector<pool_parts> pools;
  std::shared_ptr<const broker_state> state;
  std::optional<resources::identity> who;   // also of a paused cluster
  std::optional<problem> refused;           // why nothing was made
  std::optional<std::string> config_wrong;  // of spec.config
};

json cluster_status(const environment& env, const cluster_view& view);

// Nothing is under way: no need to look again before something happens.
bool is_settled(const json& status);

}  // namespace braidmq::reconcile

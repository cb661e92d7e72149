// What a cluster has besides its pools: Secret, ConfigMap, Services, NetworkPolicy, PodDisruptionBudget, PodMonitor.
#pragma once

#include "reconcile/scope.hpp"
#include "resources/identity.hpp"

namespace braidmq::reconcile {

// Writes what differs. A problem is one that only a person can solve.
result<std::optional<problem>> keep_cluster_objects(environment& env, const api::braid_cluster& cluster,
                                                    const resources::identity& who);

}  // namespace braidmq::reconcile

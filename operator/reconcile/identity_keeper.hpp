// Birth of a cluster: its id is made once, stands in the ConfigMap <cluster>-identity before any volume is asked for,
// and is "existing" for ever once the broker has told it. What a BraidCluster that was deleted left behind is found
// again.
#pragma once

#include "reconcile/scope.hpp"
#include "resources/identity.hpp"

namespace braidmq::reconcile {

// The identity, made if there is none. Reads live: what is decided here is decided once.
result<resources::identity> keep_identity(environment& env, const api::braid_cluster& cluster);

// Notes that the cluster has been founded, when the broker says so. True when that is new.
result<bool> note_founding(environment& env, const api::braid_cluster& cluster, const broker_state& state,
                           resources::identity& who);

}  // namespace braidmq::reconcile

// BraidCluster: identity, the objects that its brokers share, and its status. Brokers themselves are BraidPools'.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

result<outcome> reconcile_cluster(environment& env, const object_key& key);

}  // namespace braidmq::reconcile

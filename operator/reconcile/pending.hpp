// Changes of a pool that runs and for which there is no procedure yet. They are not written; what stands on the server
// is kept, and a condition says which they are and what to do.
#pragma once

#include "api/braid_cluster.hpp"
#include "api/braid_pool.hpp"

namespace braidmq::reconcile {

using k8s::json;

// Puts into `wanted` (a StatefulSet) what `live` has of the fields that may not change, and seals it again. The result:
// each change in words. `founded`: the cluster has data, so that number and image of its brokers stay; claims of a
// StatefulSet never change.
std::vector<std::string> hold_back(json& wanted, const json& live, bool founded);

}  // namespace braidmq::reconcile

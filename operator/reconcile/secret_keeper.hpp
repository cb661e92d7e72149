// The Secret of a cluster: made when there is none, never changed. Read live, one by name: the operator need not be
// allowed to list Secrets.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

// Creates it once. What stands there, even something unusable, stays: the error says so.
status keep_secret(environment& env, const api::braid_cluster& cluster);

// The secret in use.
result<std::string> read_cluster_secret(k8s::client& api, const object_key& cluster);

}  // namespace braidmq::reconcile

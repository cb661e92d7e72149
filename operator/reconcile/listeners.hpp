// Addresses of listeners: where clients begin, and what each broker tells them. Those inside are names of pods, known
// from the start; those outside are a node's address and a node port, which only the operator can know and pushes.
#pragma once

#include "admin_client/types.hpp"
#include "reconcile/scope.hpp"

namespace braidmq::reconcile {

// "host:port"; empty while it is not known.
std::string internal_bootstrap(const environment& env, const api::braid_cluster& cluster,
                               const api::cluster_listener& listener);
std::string node_bootstrap(const environment& env, const api::braid_cluster& cluster,
                           const api::cluster_listener& listener);

// What the broker in this pod should advertise by its pushed listeners, as far as it is known.
std::vector<admin_client::listener_info> pushed_addresses(const environment& env, const api::braid_cluster& cluster,
                                                          const api::pod& pod);

}  // namespace braidmq::reconcile

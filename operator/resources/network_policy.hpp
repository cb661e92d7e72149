#pragma once

#include <set>

#include "resources/names.hpp"

namespace braidmq::resources {

// Who may connect to brokers: anyone to the Kafka listeners, pods (Prometheus, the operator) to the admin port,
// brokers of the same cluster to each other. Nothing
// is said about what brokers connect to. `ports_too`: of brokers that were started before the listeners changed.
json network_policy(const api::braid_cluster& cluster, const std::set<int>& ports_too = {}, bool has_peers = false);

// Ports of the Kafka listeners that a policy admits.
std::set<int> admitted_ports(const json& policy);

}  // namespace braidmq::resources

#pragma once

#include "resources/names.hpp"

namespace braidmq::resources {

// Who may connect to brokers: anyone to the Kafka listeners, pods (Prometheus, the operator) to the admin port. Nothing
// is said about what brokers connect to.
json network_policy(const api::braid_cluster& cluster);

}  // namespace braidmq::resources

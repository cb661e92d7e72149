#pragma once

#include "resources/names.hpp"

namespace braidmq::resources {

// The PodDisruptionBudget of a cluster: one broker may be evicted at a time, and a broken one always. Nothing for a
// single broker, whose node could otherwise never be drained.
std::optional<json> budget(const api::braid_cluster& cluster, int brokers);

}  // namespace braidmq::resources

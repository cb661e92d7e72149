// broker.yaml of a cluster: spec.config as users wrote it, and beside it the keys that only the operator may set.
#pragma once

#include <optional>
#include <string>

#include "resources/identity.hpp"

namespace braidmq::resources {

// In words, when the broker would refuse spec.config: an unknown key, a value out of range, a key of the operator.
std::optional<std::string> config_problem(const api::braid_cluster& cluster);

std::string broker_yaml(const api::braid_cluster& cluster, const identity& of);
json config_map(const api::braid_cluster& cluster, const identity& of);

// Over what a broker reads at its start. braid.bootstrap is left out: it changes once in the life of a cluster and a
// running broker need not know.
std::string config_hash(const api::braid_cluster& cluster, const identity& of);

}  // namespace braidmq::resources

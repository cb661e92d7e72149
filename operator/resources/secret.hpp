// The Secret that brokers and operator share: 256 bits as 64 hex characters in one line of the key "secret". It is
// created once and never applied, so that nothing rotates it by accident; further lines are accepted by brokers too.
#pragma once

#include <optional>
#include <string>

#include "io/random.hpp"
#include "resources/names.hpp"

namespace braidmq::resources {

json secret(const api::braid_cluster& cluster, io::random_source& random);

// The first line of 32 bytes or more of a Secret document, or in words what is wrong with it.
std::optional<std::string> read_secret(const json& object);

}  // namespace braidmq::resources

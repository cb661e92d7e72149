// Whether the kinds on the server are as new as this operator. Older ones drop fields that it would write, so it says
// so instead of writing them again and again.
#pragma once

#include <optional>

#include "k8s/client.hpp"

namespace braidmq::operator_app {

// Raised together with the annotation braidmq.io/schema-level in crds/.
inline constexpr int schema_level = 2;

// Nothing: they could not be read (no right to, or no answer), which is no reason to complain.
std::optional<bool> crds_are_outdated(k8s::client& api);

}  // namespace braidmq::operator_app

// The kind that these tests keep.
#pragma once

#include "k8s/object.hpp"

namespace braidmq::k8s::testing {

inline const resource_type things{"example.io", "v1", "Thing", "things"};

}  // namespace braidmq::k8s::testing

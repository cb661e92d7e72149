// Whether what stands on the server is still what we made: the server adds defaults and writes quantities in its own
// form, so equality is not the question.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "k8s/object.hpp"

namespace braidmq::resources {

using k8s::json;

inline constexpr std::string_view applied_annotation = "braidmq.io/applied";
inline constexpr std::string_view revision_annotation = "braidmq.io/pod-revision";

// Notes a hash of the object in its annotations, so that a member which we no longer render is seen as a difference
// too.
void seal(json& object);

// True when every member of `wanted` stands in `live` with the same value. Empty members of `wanted` may be absent, and
// texts that are equal quantities are equal. Lists whose items have names (containers, env, ports, volumes; mounts by
// their path) are merged by the server: each item of ours is there, in whatever order, and others' beside it are no
// difference. All other lists have the same length and order.
bool covers(const json& live, const json& wanted);

// "1Gi" and "1024Mi", "0.5" and "500m". False when either is no quantity.
bool equal_quantities(std::string_view a, std::string_view b);
// -1, 0, 1; nothing when either is no quantity.
std::optional<int> compare_quantities(std::string_view a, std::string_view b);

// 16 hex digits over a canonical document: members sorted, no spaces.
std::string revision_of(const json& document);

}  // namespace braidmq::resources

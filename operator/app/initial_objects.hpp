// Objects of our kinds that an installation brings along, as JSON in a ConfigMap: applied in the order of its keys once
// their kinds are served. Each is applied again only when its text has changed since, so that what people edit stays;
// what is taken out of the ConfigMap is not deleted.
//
// Threads: one caller.
#pragma once

#include "k8s/client.hpp"

namespace braidmq::operator_app {

inline constexpr std::string_view initial_manager = "braidmq-operator-initial";
inline constexpr std::string_view initial_annotation = "braidmq.io/initial-revision";

// How many were written. Errors are worth a line in the log and another try: kinds may not be served yet.
result<int> apply_initial_objects(k8s::client& api, const k8s::object_key& config_map);

}  // namespace braidmq::operator_app

// Paths and queries of the API. Pure. Errors: errc::invalid for what cannot be a segment of a path.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s {

using query_parameters = std::vector<std::pair<std::string, std::string>>;

// An empty namespace means all of them; then and for kinds without namespaces the path has none.
result<std::string> collection_path(const resource_type& type, const std::string& namespace_name);
result<std::string> object_path(const resource_type& type, const object_key& key, const std::string& subresource = "");

std::string with_query(std::string path, const query_parameters& query);  // without parameters of no value
std::string percent_encoded(std::string_view text);

}  // namespace braidmq::k8s

// ApiVersions, versions 0 to 5. Features are told from version 3 on: `braidmq.atomic.produce`, level 1, says that this
// broker knows tag 9001 of Produce; clients pass over features that they do not know. A client of version 5 that means
// another cluster or broker is told to bootstrap again (KIP-1242): on Kubernetes an address can change hands.
#include <algorithm>
#include <cctype>

#include "base/check.hpp"
#include "server/api_list.hpp"
#include "server/handlers/api_versions_body.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

void list_apis(protocol::api_versions_response& response) {
  for (const served_api& api : api_list()) {
    response.api_keys.push_back({api.key, api.min_advertised, api.max_served});
  }
}

// One broker is the whole cluster: what it supports is agreed upon. The epoch is that of the metadata log, once there
// is one to change levels in.
void list_features(protocol::api_versions_response& response) {
  constexpr std::int16_t level = 1;
  response.supported_features.push_back({"braidmq.atomic.produce", 1, level});
  response.finalized_features.push_back({"braidmq.atomic.produce", level, 1});
  response.finalized_features_epoch = 0;
}

// KIP-511: names of client software go into logs and metrics, so they are letters, digits, '.', '-' inside.
bool is_software_name(const std::string& name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && plain(name.front()) && plain(name.back()) &&
         std::ranges::all_of(name, [&plain](char c) { return plain(c) || c == '.' || c == '-'; });
}

}  // namespace

bytes unsupported_api_versions_body() {
  protocol::api_versions_response response;
  response.error_code = protocol::error_code::unsupported_version;
  list_apis(response);
  byte_buffer buffer;
  const status written = response.encode(buffer, 0);
  BRAID_CHECK(written.has_value());
  return buffer.freeze();
}

answer_of<protocol::api_versions_response> api_versions(request_ptr context, protocol::api_versions_request request) {
  protocol::api_versions_response response;
  if (context->version >= 3) {
    if (!is_software_name(request.client_software_name) || !is_software_name(request.client_software_version)) {
      response.error_code = protocol::error_code::invalid_request;
      co_return response;
    }
    context->connection->software_name = request.client_software_name;
    context->connection->software_version = request.client_software_version;
  }
  const uuid cluster = context->broker.image()->cluster_id();  // zero until the metadata log has been read
  const bool other_cluster = request.cluster_id && !cluster.is_zero() && *request.cluster_id != cluster.to_string();
  const bool other_node = request.node_id.value() >= 0 && request.node_id != context->broker.options().id;
  if (other_cluster || other_node) response.error_code = protocol::error_code::rebootstrap_required;
  list_apis(response);
  list_features(response);
  co_return response;
}

}  // namespace braidmq::server::handlers

// GET /v1/cluster: brokers, braids, and what this broker knows of the metadata log. GET /v1/braids: the braids alone.
#include "admin/resources.hpp"

namespace braidmq::admin {

namespace {

http_response braids(backend& api) {
  const auto cluster = api.cluster();
  if (!cluster) return error_response(cluster.error());
  return json_response(200, admin_client::braids_to_json(*cluster));
}

}  // namespace

std::vector<route> cluster_routes(backend& api) {
  return {
      {"GET", "/v1/cluster", [&api](const http_request&) { return answer(api.cluster()); }},
      {"GET", "/v1/braids", [&api](const http_request&) { return braids(api); }},
  };
}

}  // namespace braidmq::admin

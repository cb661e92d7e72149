// GET /v1/cluster: brokers, braids, and what this broker knows of the metadata log.
#include "admin/resources.hpp"

namespace braidmq::admin {

std::vector<route> cluster_routes(backend& api) {
  return {{"GET", "/v1/cluster", [&api](const http_request&) { return answer(api.cluster()); }}};
}

}  // namespace braidmq::admin

// The resources of the HTTP API, one file each. `api` and the callbacks outlive the routes.
// Source: broker/docs/http-api.md.
#pragma once

#include <vector>

#include "admin/backend.hpp"
#include "admin/callbacks.hpp"
#include "admin/router.hpp"

namespace braidmq::admin {

std::vector<route> health_routes(reasons_callback not_live, reasons_callback not_ready);
std::vector<route> metrics_routes(std::vector<metrics_callback> sources);
std::vector<route> cluster_routes(backend& api);
std::vector<route> topic_routes(backend& api);
std::vector<route> drain_routes(backend& api);
std::vector<route> listener_routes(backend& api);

}  // namespace braidmq::admin

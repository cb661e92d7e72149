// GET /livez, /readyz: 200, or 503 with the reasons.
#include "admin/resources.hpp"

namespace braidmq::admin {
namespace {

http_response health(const char* good, const char* bad, const std::vector<std::string>& reasons) {
  if (reasons.empty()) return json_response(200, {{"status", good}});
  return json_response(503, {{"status", bad}, {"reasons", reasons}});
}

}  // namespace

std::vector<route> health_routes(reasons_callback not_live, reasons_callback not_ready) {
  return {
      {"GET", "/livez",
       [not_live = std::move(not_live)](const http_request&) {
         return health("live", "not live", not_live ? not_live() : std::vector<std::string>());
       }},
      {"GET", "/readyz",
       [not_ready = std::move(not_ready)](const http_request&) {
         return health("ready", "not ready", not_ready ? not_ready() : std::vector<std::string>{"starting"});
       }},
  };
}

}  // namespace braidmq::admin

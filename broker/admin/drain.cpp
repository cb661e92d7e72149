// /v1/drain: POST begins draining and waits for its end, GET says how far it is. An empty body waits for nothing.
#include "admin/resources.hpp"

namespace braidmq::admin {
namespace {

constexpr auto max_wait = std::chrono::minutes(10);

http_response begin(backend& api, const http_request& request) {
  const auto body =
      request.body.empty() ? result<nlohmann::json>(nlohmann::json::object()) : admin_client::parse_json(request.body);
  if (!body) return error_response(body.error());
  const auto timeout = admin_client::drain_request(*body);
  if (!timeout) return error_response(timeout.error());
  return answer(api.drain(std::min<std::chrono::milliseconds>(*timeout, max_wait)));
}

}  // namespace

std::vector<route> drain_routes(backend& api) {
  return {
      {"POST", "/v1/drain", [&api](const http_request& request) { return begin(api, request); }},
      {"GET", "/v1/drain", [&api](const http_request&) { return answer(api.drain_status()); }},
  };
}

}  // namespace braidmq::admin

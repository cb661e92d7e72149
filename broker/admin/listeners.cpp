// PUT /v1/listeners/{name}: under which address clients reach a listener of this broker.
#include "admin/resources.hpp"

namespace braidmq::admin {
namespace {

http_response put(backend& api, const http_request& request) {
  const auto body = admin_client::parse_json(request.body);
  if (!body) return error_response(body.error());
  const auto wanted = admin_client::listener_request(request.name, *body);
  if (!wanted) return error_response(wanted.error());
  const status done = api.set_listener(*wanted);
  return done ? json_response(200, admin_client::to_json(*wanted)) : error_response(done.error());
}

}  // namespace

std::vector<route> listener_routes(backend& api) {
  return {{"PUT", "/v1/listeners/{name}", [&api](const http_request& request) { return put(api, request); }}};
}

}  // namespace braidmq::admin

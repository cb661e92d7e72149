// /v1/topics: list, get, create, change, delete.
#include <charconv>

#include <fmt/format.h>

#include "admin/resources.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;

constexpr std::int32_t max_page = 1000;

http_response list(backend& api, const http_request& request) {
  std::int32_t limit = max_page;
  if (const auto given = request.param("limit")) {
    const auto [end, code] = std::from_chars(given->data(), given->data() + given->size(), limit);
    if (code != std::errc{} || end != given->data() + given->size() || limit < 1 || limit > max_page) {
      return error_response(errc::invalid_request, fmt::format("limit is a number from 1 to {}", max_page));
    }
  }
  return answer(api.topics(request.param("after").value_or(""), limit));
}

// Reads the body and calls `act` with what it asks for.
template <class Read, class Act>
http_response with_body(const http_request& request, Read read, Act act) {
  const auto body = admin_client::parse_json(request.body);
  if (!body) return error_response(body.error());
  const auto wanted = read(*body);
  if (!wanted) return error_response(wanted.error());
  return act(*wanted);
}

http_response create(backend& api, const http_request& request) {
  return with_body(request, admin_client::creation_request, [&api](const admin_client::topic_creation& wanted) {
    return answer(api.create_topic(wanted), wanted.validate_only ? 200 : 201);
  });
}

http_response change(backend& api, const http_request& request) {
  const auto read = [&request](const nlohmann::json& body) { return admin_client::change_request(request.name, body); };
  return with_body(request, read,
                   [&api](const admin_client::topic_change& wanted) { return answer(api.change_topic(wanted)); });
}

http_response remove(backend& api, const http_request& request) {
  if (!request.body.empty()) {
    return error_response(errc::invalid_request, "DELETE takes no body; the precondition is ?id=ID");
  }
  const status done = api.delete_topic(request.name, request.param("id"));
  return done ? http_response{.status = 204, .body = {}, .content_type = {}, .headers = {}}
              : error_response(done.error());
}

}  // namespace

std::vector<route> topic_routes(backend& api) {
  return {
      {"GET", "/v1/topics", [&api](const http_request& request) { return list(api, request); }},
      {"POST", "/v1/topics", [&api](const http_request& request) { return create(api, request); }},
      {"GET", "/v1/topics/{name}", [&api](const http_request& request) { return answer(api.topic(request.name)); }},
      {"PATCH", "/v1/topics/{name}", [&api](const http_request& request) { return change(api, request); }},
      {"DELETE", "/v1/topics/{name}", [&api](const http_request& request) { return remove(api, request); }},
  };
}

}  // namespace braidmq::admin

// A request and its answer as the resources see them: no library, no socket.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "admin_client/codec.hpp"
#include "admin_client/errc.hpp"
#include "admin_client/strict_json.hpp"
#include "base/result.hpp"

namespace braidmq::admin {

struct http_request {
  std::string method;
  std::string path;  // decoded
  std::string name;  // what stands for {name} in the route's pattern, decoded
  std::multimap<std::string, std::string> query;
  std::string authorization;  // the header
  std::string body;

  // The query's value; nothing when it is not given.
  std::optional<std::string> param(const std::string& key) const {
    const auto found = query.find(key);
    return found == query.end() ? std::nullopt : std::optional(found->second);
  }
};

struct http_response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
};

inline http_response json_response(int status, const nlohmann::json& body) {
  return {
      .status = status, .body = admin_client::to_text(body) + "\n", .content_type = "application/json", .headers = {}};
}

// {"error": name of the code, "message": words}, with the code's status or another one.
inline http_response error_response(admin_client::errc code, const std::string& message, int status = 0) {
  return json_response(status != 0 ? status : admin_client::http_status(code),
                       admin_client::error_to_json(code, message));
}

// An error of the backend. What is not of the API's category is the broker's fault, and its words are not for
// strangers.
http_response error_response(const error& why);

// The value as JSON, or the error.
template <class T>
http_response answer(const result<T>& value, int status = 200) {
  if (!value) return error_response(value.error());
  return json_response(status, admin_client::to_json(*value));
}

}  // namespace braidmq::admin

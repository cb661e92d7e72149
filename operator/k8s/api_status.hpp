// What an API server says when it refuses: its Status object, or whatever a proxy in between has sent instead.
// Pure; never throws. Source: Kubernetes API conventions, "Response Status Kind".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s {

struct api_status {
  int code = 0;         // the Status object's when it names one (events in a stream), else the HTTP answer's
  std::string reason;   // AlreadyExists, Conflict, Expired, ...; empty when unknown
  std::string message;  // at most 2,048 bytes, printable
  std::optional<std::chrono::seconds> retry_after;
};

api_status decode_status(int http_code, std::string_view body);
// The object of an ERROR event in a stream, whose HTTP code says nothing.
api_status decode_stream_status(const json& object);

// The body of a successful answer; errc::bad_response when it is no JSON object.
result<json> decode_object(std::string_view body);

enum class operation { read, create, patch, other };
error to_error(const api_status& status, operation doing);

}  // namespace braidmq::k8s

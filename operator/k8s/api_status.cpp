#include "k8s/api_status.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

constexpr std::size_t max_message_bytes = 2048;
constexpr std::size_t max_foreign_bytes = 200;  // of a body that is no Status
constexpr std::int64_t max_retry_after_s = 3600;

// Ends on a character, holds nothing that could break a log line. JSON strings are valid UTF-8 already; in other bodies
// what is not ASCII becomes a question mark.
std::string printable(std::string_view text, std::size_t limit, bool is_utf8) {
  std::size_t end = std::min(text.size(), limit);
  while (is_utf8 && end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  std::string clean(text.substr(0, end));
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
    if (byte >= 0x80 && !is_utf8) c = '?';
  }
  return clean;
}

std::string text_member(const json& object, std::string_view name, std::size_t limit) {
  const json* value = find(object, {name});
  if (value == nullptr || !value->is_string()) return {};
  return printable(value->get_ref<const std::string&>(), limit, true);
}

std::optional<std::int64_t> number_at(const json& object, std::initializer_list<std::string_view> path) {
  const json* value = find(object, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::string words_for(int code) {
  switch (code) {
    case 401:
      return "the server did not accept the credentials";
    case 403:
      return "the server refused access";
    case 404:
      return "the server could not find the resource";
    case 410:
      return "the version asked for is gone";
    case 429:
      return "the server asks for fewer requests";
    case 504:
      return "the server did not finish in time";
    default:
      return fmt::format("the server answered {}", code);
  }
}

errc errc_of(const api_status& status, operation doing) {
  switch (status.code) {
    case 401:
      return errc::unauthorized;
    case 403:
      return errc::forbidden;
    case 404:
      return errc::not_found;
    case 409:
      return doing == operation::create || status.reason == "AlreadyExists" ? errc::already_exists : errc::conflict;
    case 410:
      return errc::gone;
    case 422:
      // A JSON patch whose test failed comes as 422, but a test is a precondition like any other.
      if (doing == operation::patch && status.message.find("test failed") != std::string::npos) return errc::conflict;
      return errc::invalid;
    case 429:
      return errc::too_many_requests;
    default:
      break;
  }
  if (status.code >= 500 && status.code < 600) return errc::server_error;
  if (status.code >= 400 && status.code < 500) return errc::invalid;
  return errc::bad_response;
}

api_status read_status(int code, const json& object) {
  api_status status;
  status.code = code;
  status.reason = text_member(object, "reason", 128);
  status.message = text_member(object, "message", max_message_bytes);
  if (status.message.empty()) status.message = words_for(status.code);
  const auto seconds = number_at(object, {"details", "retryAfterSeconds"});
  if (seconds && *seconds > 0) status.retry_after = std::chrono::seconds(std::min(*seconds, max_retry_after_s));
  return status;
}

}  // namespace

api_status decode_stream_status(const json& object) {
  const auto code = number_at(object, {"code"});
  return read_status(code && *code >= 100 && *code <= 999 ? static_cast<int>(*code) : 500, object);
}

api_status decode_status(int http_code, std::string_view body) {
  const json object = json::parse(body, nullptr, false);
  if (object.is_object() && object.contains("kind") && object["kind"] == "Status") {
    return read_status(http_code, object);
  }
  api_status status;
  status.code = http_code;
  status.message = words_for(http_code);
  const std::string text = printable(body, max_foreign_bytes, false);
  if (!text.empty()) status.message += ": " + text;
  return status;
}

result<json> decode_object(std::string_view body) {
  json object = json::parse(body, nullptr, false);
  if (!object.is_object()) {
    return fail(errc::bad_response, fmt::format("{} bytes that are no JSON object", body.size()));
  }
  return object;
}

error to_error(const api_status& status, operation doing) {
  return {errc_of(status, doing), status.message};
}

}  // namespace braidmq::k8s

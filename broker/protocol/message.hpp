// Frames: a request is its header and body, a response likewise. The 4-byte length in front of a frame is the reader's
// on the way in (net checks it against its limits) and ours on the way out.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "protocol/api_table.hpp"
#include "protocol/generated/headers.hpp"

namespace braidmq::protocol {

struct request_frame {
  request_header header;
  const api_description* api = nullptr;  // never null in a decoded frame
  // False only for ApiVersions: it is answered with error 35 in a body of version 0 (KIP-511), and `body` is empty.
  bool version_supported = true;
  bytes body;  // shares the frame
};

// `frame` is without its length prefix. Errors: unknown_api, unsupported_version (the connection is to be closed, there
// is no way to answer), truncated, malformed.
result<request_frame> decode_request_frame(bytes frame);

// Response header and the rest; for clients.
struct response_frame {
  std::int32_t correlation_id = 0;
  bytes body;
};
result<response_frame> decode_response_frame(bytes frame, const api_description& api, std::int16_t version);

tl::unexpected<error> unsupported_version(std::string_view message, std::int16_t version);

namespace detail {
// Writes a length of 0 and the header; returns where the frame began.
std::size_t begin_response(byte_buffer& to, std::int16_t key, std::int16_t version, std::int32_t correlation_id);
std::size_t begin_request(byte_buffer& to, const request_header& header);
// Puts the length in place, or takes everything back when `body` failed.
status end_frame(byte_buffer& to, std::size_t begin, status body);
}  // namespace detail

template <class T>
concept message = requires(const T& value, byte_buffer& to, std::int16_t version) {
  { T::api_key } -> std::convertible_to<std::int16_t>;
  { value.encode(to, version) } -> std::same_as<status>;
};

// Appends length, header and body.
template <message Response>
status encode_response_frame(byte_buffer& to, const Response& body, std::int16_t version, std::int32_t correlation_id) {
  const std::size_t begin = detail::begin_response(to, Response::api_key, version, correlation_id);
  return detail::end_frame(to, begin, body.encode(to, version));
}
template <message Request>
status encode_request_frame(byte_buffer& to, const Request& body, std::int16_t version, std::int32_t correlation_id,
                            std::optional<std::string> client_id) {
  request_header header;
  header.request_api_key = Request::api_key;
  header.request_api_version = version;
  header.correlation_id = correlation_id;
  header.client_id = std::move(client_id);
  const std::size_t begin = detail::begin_request(to, header);
  return detail::end_frame(to, begin, body.encode(to, version));
}

}  // namespace braidmq::protocol

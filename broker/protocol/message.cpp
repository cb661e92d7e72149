#include "protocol/message.hpp"

#include <limits>

#include <fmt/format.h>

#include "protocol/errc.hpp"
#include "protocol/wire_reader.hpp"
#include "protocol/wire_writer.hpp"

namespace braidmq::protocol {

tl::unexpected<error> unsupported_version(std::string_view message, std::int16_t version) {
  return fail(errc::unsupported_version, fmt::format("{} version {}", message, version));
}

// Header 1 is a prefix of header 2, and it names API and version; so it is read first, and the tagged fields of header
// 2 after it, when they are due.
result<request_frame> decode_request_frame(bytes frame) {
  request_frame out;
  wire_reader in(std::move(frame), false);
  read(in, out.header, 1);
  BRAID_TRY_VOID(in.state(request_header::name));
  out.api = find_api(out.header.request_api_key);
  if (out.api == nullptr) return fail(errc::unknown_api, fmt::format("API key {}", out.header.request_api_key));
  const std::int16_t version = out.header.request_api_version;
  if (!out.api->has_version(version)) {
    if (out.api->key != api_key::api_versions) return unsupported_version(out.api->name, version);
    out.version_supported = false;
    return out;
  }
  if (out.api->request_header_version(version) >= request_header::first_flexible_version) {
    tagged_fields_reader tags(in);
    while (tags.next()) tags.skip();
    BRAID_TRY_VOID(in.state(request_header::name));
  }
  out.body = in.rest();
  return out;
}

result<response_frame> decode_response_frame(bytes frame, const api_description& api, std::int16_t version) {
  const std::int16_t header_version = api.response_header_version(version);
  wire_reader in(std::move(frame), header_version >= response_header::first_flexible_version);
  response_header header;
  read(in, header, header_version);
  BRAID_TRY_VOID(in.state(response_header::name));
  return response_frame{header.correlation_id, in.rest()};
}

namespace detail {

std::size_t begin_response(byte_buffer& to, std::int16_t key, std::int16_t version, std::int32_t correlation_id) {
  const api_description* api = find_api(key);
  BRAID_CHECK(api != nullptr, "response of API {}", key);
  const std::size_t begin = to.size();
  to.append_be<std::int32_t>(0);
  const std::int16_t header_version = api->response_header_version(version);
  response_header header;
  header.correlation_id = correlation_id;
  wire_writer out(to, header_version >= response_header::first_flexible_version);
  write(out, header, header_version);
  return begin;
}

std::size_t begin_request(byte_buffer& to, const request_header& header) {
  const api_description* api = find_api(header.request_api_key);
  BRAID_CHECK(api != nullptr, "request of API {}", header.request_api_key);
  const std::size_t begin = to.size();
  to.append_be<std::int32_t>(0);
  const std::int16_t header_version = api->request_header_version(header.request_api_version);
  wire_writer out(to, header_version >= request_header::first_flexible_version);
  write(out, header, header_version);
  return begin;
}

status end_frame(byte_buffer& to, std::size_t begin, status body) {
  const std::size_t size = to.size() - begin - sizeof(std::int32_t);
  if (body && size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    body = fail(errc::too_long, fmt::format("frame of {} bytes", size));
  }
  if (body) {
    to.put_be(begin, static_cast<std::int32_t>(size));
  } else {
    to.resize(begin);
  }
  return body;
}

}  // namespace detail
}  // namespace braidmq::protocol

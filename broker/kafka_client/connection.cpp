#include "kafka_client/connection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "protocol/generated/api_versions.hpp"

namespace braidmq::kafka_client {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t least_answer_bytes = 4;  // a correlation id

}  // namespace

result<connection> connection::open(const io::endpoint& to, connection_options options) {
  BRAID_TRY(stream, socket::connect(to, io::system_clock().now() + options.timeout));
  connection made(to, std::move(stream), std::move(options));
  BRAID_TRY_VOID(made.ask_versions());
  return made;
}

status connection::ask_versions() {
  constexpr std::int16_t asked_version = 4;
  protocol::api_versions_request request;
  request.client_software_name = options_.client_id;
  request.client_software_version = "1";
  byte_buffer frame;
  const std::int32_t id = ++last_correlation_id_;
  const protocol::api_description* api = protocol::find_api(protocol::api_versions_request::api_key);
  BRAID_TRY_VOID(protocol::encode_request_frame(frame, request, asked_version, id, options_.client_id));
  BRAID_TRY(body, exchange(frame.freeze(), *api, asked_version, id, options_.timeout));
  if (body.size() < sizeof(std::int16_t)) return bad_answer("ApiVersions without an error code");
  // KIP-511: a broker that does not know the version answers in version 0 what it knows.
  const auto code = static_cast<protocol::error_code>(load_be<std::int16_t>(body.data()));
  const std::int16_t answered_version = code == protocol::error_code::unsupported_version ? 0 : asked_version;
  protocol::decode_limit limit{options_.max_decoded_bytes};
  const auto answer = protocol::api_versions_response::decode(std::move(body), answered_version, &limit);
  if (!answer) return bad_answer(answer.error().to_string());
  if (code != protocol::error_code::none && code != protocol::error_code::unsupported_version) {
    return fail(errc::refused, fmt::format("{}: ApiVersions: {}", peer_.to_string(), protocol::to_string(code)));
  }
  for (const auto& one : answer->api_keys) versions_[one.api_key] = {one.min_version, one.max_version};
  for (const auto& one : answer->finalized_features) finalized_[one.name] = one.max_version_level;
  return {};
}

result<std::int16_t> connection::version_for(std::int16_t api_key, std::int16_t highest, std::int16_t lowest) const {
  const protocol::api_description* api = protocol::find_api(api_key);
  BRAID_CHECK(api != nullptr, "no schema of API {}", api_key);
  const auto found = versions_.find(api_key);
  if (found == versions_.end()) {
    return fail(errc::unsupported, fmt::format("{} does not know {}", peer_.to_string(), api->name));
  }
  const std::int16_t best = std::min({highest, found->second.highest, api->latest_stable_version});
  if (best < std::max({lowest, found->second.lowest, api->min_version})) {
    return fail(errc::unsupported, fmt::format("{} speaks versions {} to {} of {}", peer_.to_string(),
                                               found->second.lowest, found->second.highest, api->name));
  }
  return best;
}

std::int16_t connection::finalized_level(const std::string& feature) const {
  const auto found = finalized_.find(feature);
  return found == finalized_.end() ? std::int16_t{0} : found->second;
}

result<bytes> connection::exchange(bytes frame, const protocol::api_description& api, std::int16_t version,
                                   std::int32_t id, std::chrono::milliseconds timeout) {
  const io::time_point deadline = io::system_clock().now() + timeout;
  const auto named = [this, &api](error why) {
    return tl::unexpected(with_context(std::move(why), fmt::format("{}: {}", peer_.to_string(), api.name)));
  };
  if (auto sent = stream_.send(frame, deadline); !sent) return named(sent.error());
  const auto length = stream_.receive(length_bytes, deadline);
  if (!length) return named(length.error());
  const auto size = load_be<std::int32_t>(length->data());
  if (size < static_cast<std::int32_t>(least_answer_bytes) ||
      static_cast<std::size_t>(size) > options_.max_answer_bytes) {
    return bad_answer(fmt::format("an answer of {} bytes, at most {}", size, options_.max_answer_bytes));
  }
  auto answer = stream_.receive(static_cast<std::size_t>(size), deadline);
  if (!answer) return named(answer.error());
  auto read = protocol::decode_response_frame(std::move(*answer), api, version);
  if (!read) return bad_answer(read.error().to_string());
  if (read->correlation_id != id) {
    return bad_answer(fmt::format("an answer to request {}, expected {}", read->correlation_id, id));
  }
  return std::move(read->body);
}

tl::unexpected<error> connection::bad_answer(const std::string& why) const {
  return fail(errc::bad_answer, fmt::format("{}: {}", peer_.to_string(), why));
}

}  // namespace braidmq::kafka_client

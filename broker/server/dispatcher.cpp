#include "server/dispatcher.hpp"

#include <utility>

#include "protocol/api_table.hpp"
#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/headers.hpp"
#include "protocol/generated/produce.hpp"
#include "protocol/wire_reader.hpp"
#include "server/handlers/api_versions_body.hpp"

namespace braidmq::server {
namespace {

constexpr std::size_t fixed_header_bytes = 8;  // key, version, correlation id
constexpr std::size_t max_frame_without_records = std::size_t{16} * 1024 * 1024;
constexpr io::duration metadata_patience = std::chrono::seconds(30);

// To ApiVersions of a version that is not known, in version 0.
net::answer unsupported_version(std::int32_t correlation_id) {
  protocol::response_header header;
  header.correlation_id = correlation_id;
  byte_buffer buffer;
  const status written = header.encode(buffer, 0);
  BRAID_CHECK(written.has_value());
  std::vector<bytes> parts;
  parts.push_back(buffer.freeze());
  parts.push_back(handlers::unsupported_api_versions_body());
  return parts;
}

std::string who(const net::connection_info& connection) {
  return fmt::format("client '{}' at {}", connection.client_id, connection.remote);
}

struct request_start {
  std::int16_t key = 0;
  std::int16_t version = 0;
  std::int32_t correlation_id = 0;
  const served_api* api = nullptr;  // none: ApiVersions of an unknown version, which is answered in version 0
  const protocol::api_description* description = nullptr;
  std::string client_id;
  bytes body;
};

// Reads what comes before the body. `start` is all of the frame, or, of a longer one, what came first: then `truncated`
// may only mean that there is more.
result<request_start> read_start(const net::connection_info& connection, const bytes& start, std::size_t frame_bytes) {
  if (start.size() < fixed_header_bytes) return fail(protocol::errc::truncated, "frame without a request header");
  request_start read;
  read.key = load_be<std::int16_t>(start.data());
  read.version = load_be<std::int16_t>(start.data() + 2);
  read.correlation_id = load_be<std::int32_t>(start.data() + 4);
  const served_api* api = find_served(read.key);
  read.description = protocol::find_api(read.key);
  if (api == nullptr || read.description == nullptr) {
    return fail(protocol::errc::unsupported_version,
                fmt::format("API {} is not served by this version ({})", read.key, who(connection)));
  }
  if (read.key != protocol::produce_request::api_key && frame_bytes > max_frame_without_records) {
    return fail(protocol::errc::too_large, fmt::format("{} of {} bytes, at most {} ({})", read.description->name,
                                                       frame_bytes, max_frame_without_records, who(connection)));
  }
  if (read.version < api->min_served || read.version > api->max_served) {
    if (read.key == protocol::api_versions_request::api_key) return read;
    return fail(protocol::errc::unsupported_version,
                fmt::format("{} version {} is not served, {} to {} are ({})", read.description->name, read.version,
                            api->min_served, api->max_served, who(connection)));
  }
  read.api = api;
  const std::int16_t header_version = read.description->request_header_version(read.version);
  protocol::wire_reader reader(start, header_version >= protocol::request_header::first_flexible_version);
  protocol::request_header header;
  protocol::read(reader, header, header_version);
  BRAID_TRY_VOID(reader.state("request header"));
  read.client_id = header.client_id.value_or("");
  read.body = reader.rest();
  return read;
}

}  // namespace

dispatcher::dispatcher(broker& target, shard_environment environment)
    : broker_(target),
      environment_(environment),
      sessions_(share_of_one(target.options().fetch_sessions, environment.count), target.environment().clock,
                target.environment().random, environment.index, environment.count),
      counters_(api_list().size()) {}

status dispatcher::look(const net::connection_info& connection, byte_view start, std::size_t frame_bytes) {
  const auto read = read_start(connection, bytes::copy_of(start.first(net::large_frame_start_bytes)), frame_bytes);
  if (read || read.error().code == protocol::errc::truncated) return {};
  ++refused_frames_;
  return tl::unexpected(read.error());
}

void dispatcher::handle(const std::shared_ptr<net::connection_info>& connection, bytes frame,
                        unique_function<void()> accepted, responder respond) {
  result<request_start> start = read_start(*connection, frame, frame.size());
  if (!start) {
    ++refused_frames_;
    return respond(tl::unexpected(std::move(start).error()));
  }
  const auto& [key, version, correlation_id, api, description, client_id, body] = *start;
  if (api == nullptr) {
    ++refused_frames_;
    return respond(unsupported_version(correlation_id));
  }
  connection->client_id = client_id;

  const auto context = std::make_shared<request_context>(
      request_context{broker_, environment_, sessions_, connection, key, version,
                      description->response_header_version(version), correlation_id, client_id, std::move(accepted)});
  api_counters& counters = counters_[static_cast<std::size_t>(api - api_list().data())];
  ++counters.requests;
  counters.bytes_in += frame.size();
  runtime::spawn(environment_.coroutines, run(context, api, body, std::move(respond)));
}

runtime::task<void> dispatcher::run(request_ptr context, const served_api* api, bytes body, responder respond) {
  const io::clock& clock = broker_.environment().clock;
  const io::time_point began = clock.now();
  if (context->api_key != protocol::api_versions_request::api_key && !broker_.controller().is_current()) {
    // From an older image a topic that exists would be answered as unknown.
    auto initiate = [this](unique_function<void(status)> done) {
      broker_.controller().when_current(metadata_patience, std::move(done));
    };
    const status current = co_await runtime::await_callback<status>(initiate);
    if (!current) {
      respond(tl::unexpected(current.error()));
      co_return;
    }
  }
  wire_answer answer = co_await api->handle(context, std::move(body));
  if (!context->handed_over) context->accept();
  api_counters& counters = counters_[static_cast<std::size_t>(api - api_list().data())];
  counters.latency_us.record(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - began).count()));
  if (!answer) {
    ++counters.failures;
    respond(tl::unexpected(with_context(std::move(answer).error(), who(*context->connection))));
  } else if (!*answer) {
    respond(net::answer());
  } else {
    counters.bytes_out += (*answer)->size();
    std::vector<bytes> parts;
    parts.push_back(std::move(**answer));
    respond(net::answer(std::move(parts)));
  }
}

}  // namespace braidmq::server

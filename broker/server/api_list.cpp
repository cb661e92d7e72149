#include "server/api_list.hpp"

#include <algorithm>
#include <array>

#include "protocol/generated/headers.hpp"
#include "protocol/wire_reader.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server {
namespace {

// A request in memory: a few elements that say little may take much of it, many of them may not.
std::size_t decoded_max_bytes(std::size_t body_bytes) {
  constexpr std::size_t any = 64 * 1024;
  constexpr std::size_t most = 32 * 1024 * 1024;
  constexpr std::size_t times = 16;
  return std::min(most, any + times * body_bytes);
}

// Most answers fit.
constexpr std::size_t small_answer_bytes = 256;

// Decodes the request, runs the typed handler, encodes its response behind its header.
template <class Request, class Response, runtime::task<result<std::optional<Response>>> (*Handle)(request_ptr, Request)>
runtime::task<wire_answer> typed(request_ptr context, bytes body) {
  const std::int16_t version = context->version;
  protocol::decode_limit limit{decoded_max_bytes(body.size())};
  const std::size_t before = limit.left_bytes;
  auto request = Request::decode(std::move(body), version, &limit);
  if (!request) co_return tl::unexpected(std::move(request).error());
  if (const auto& budget = context->broker.environment().requests)
    context->memory = budget->take(before - limit.left_bytes);
  auto response = co_await Handle(context, std::move(*request));
  if (!response) co_return tl::unexpected(std::move(response).error());
  if (!*response) co_return std::optional<bytes>();
  byte_buffer buffer(small_answer_bytes);
  protocol::response_header header;
  header.correlation_id = context->correlation_id;
  status written = header.encode(buffer, context->response_header_version);
  if (written) written = (*response)->encode(buffer, version);
  if (!written) co_return tl::unexpected(written.error());
  co_return std::optional<bytes>(buffer.freeze());
}

template <class Request, class Response, runtime::task<result<std::optional<Response>>> (*Handle)(request_ptr, Request)>
constexpr served_api serve(std::int16_t min_advertised, std::int16_t min_served, std::int16_t max_served) {
  return {Request::api_key, min_advertised, min_served, max_served, &typed<Request, Response, Handle>};
}

using namespace protocol;  // NOLINT(google-build-using-namespace): the table reads as one

constexpr std::array list{
    // librdkafka compresses with gzip, snappy and lz4 only for a broker that speaks Produce 0 (KAFKA-18659).
    serve<produce_request, produce_response, handlers::produce>(0, 3, 13),
    serve<fetch_request, fetch_response, handlers::fetch>(4, 4, 18),
    serve<list_offsets_request, list_offsets_response, handlers::list_offsets>(1, 1, 11),
    serve<metadata_request, metadata_response, handlers::metadata>(0, 0, 13),
    serve<api_versions_request, api_versions_response, handlers::api_versions>(0, 0, 5),
    serve<create_topics_request, create_topics_response, handlers::create_topics>(2, 2, 7),
    serve<delete_topics_request, delete_topics_response, handlers::delete_topics>(1, 1, 6),
    serve<init_producer_id_request, init_producer_id_response, handlers::init_producer_id>(0, 0, 5),
    serve<offset_for_leader_epoch_request, offset_for_leader_epoch_response, handlers::offset_for_leader_epoch>(2, 2,
                                                                                                                4),
    serve<describe_configs_request, describe_configs_response, handlers::describe_configs>(1, 1, 4),
    serve<create_partitions_request, create_partitions_response, handlers::create_partitions>(0, 0, 3),
    serve<incremental_alter_configs_request, incremental_alter_configs_response, handlers::incremental_alter_configs>(
        0, 0, 1),
    serve<describe_quorum_request, describe_quorum_response, handlers::describe_quorum>(0, 0, 2),
    serve<describe_cluster_request, describe_cluster_response, handlers::describe_cluster>(0, 0, 2),
};
static_assert(std::ranges::is_sorted(list, {}, &served_api::key));

}  // namespace

std::span<const served_api> api_list() {
  return list;
}

const served_api* find_served(std::int16_t key) {
  const auto found = std::ranges::lower_bound(list, key, {}, &served_api::key);
  return found == list.end() || found->key != key ? nullptr : &*found;
}

}  // namespace braidmq::server

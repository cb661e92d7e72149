// One coroutine for each API: request in, response out. nullopt: nothing is sent. An error closes the connection.
#pragma once

#include <optional>

#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/init_producer_id.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "server/request_context.hpp"

namespace braidmq::server::handlers {

template <class Response>
using answer_of = runtime::task<result<std::optional<Response>>>;

answer_of<protocol::produce_response> produce(request_ptr context, protocol::produce_request request);
answer_of<protocol::fetch_response> fetch(request_ptr context, protocol::fetch_request request);
answer_of<protocol::list_offsets_response> list_offsets(request_ptr context, protocol::list_offsets_request request);
answer_of<protocol::metadata_response> metadata(request_ptr context, protocol::metadata_request request);
answer_of<protocol::api_versions_response> api_versions(request_ptr context, protocol::api_versions_request request);
answer_of<protocol::create_topics_response> create_topics(request_ptr context, protocol::create_topics_request request);
answer_of<protocol::init_producer_id_response> init_producer_id(request_ptr context,
                                                                protocol::init_producer_id_request request);

}  // namespace braidmq::server::handlers

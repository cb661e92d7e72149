// One coroutine for each API: request in, response out. nullopt: nothing is sent. An error closes the connection.
#pragma once

#include <optional>

#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/create_partitions.hpp"
#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/delete_topics.hpp"
#include "protocol/generated/describe_cluster.hpp"
#include "protocol/generated/describe_configs.hpp"
#include "protocol/generated/describe_quorum.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/incremental_alter_configs.hpp"
#include "protocol/generated/init_producer_id.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/offset_for_leader_epoch.hpp"
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
answer_of<protocol::delete_topics_response> delete_topics(request_ptr context, protocol::delete_topics_request request);
answer_of<protocol::init_producer_id_response> init_producer_id(request_ptr context,
                                                                protocol::init_producer_id_request request);
answer_of<protocol::offset_for_leader_epoch_response> offset_for_leader_epoch(
    request_ptr context, protocol::offset_for_leader_epoch_request request);
answer_of<protocol::describe_configs_response> describe_configs(request_ptr context,
                                                                protocol::describe_configs_request request);
answer_of<protocol::create_partitions_response> create_partitions(request_ptr context,
                                                                  protocol::create_partitions_request request);
answer_of<protocol::incremental_alter_configs_response> incremental_alter_configs(
    request_ptr context, protocol::incremental_alter_configs_request request);
answer_of<protocol::describe_quorum_response> describe_quorum(request_ptr context,
                                                              protocol::describe_quorum_request request);
answer_of<protocol::describe_cluster_response> describe_cluster(request_ptr context,
                                                                protocol::describe_cluster_request request);

}  // namespace braidmq::server::handlers

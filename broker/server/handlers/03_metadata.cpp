// Metadata, versions 0 to 13. Leader and replicas of every partition are those of its braid. A topic that is asked for
// by name and missing is made when client and broker both allow it.
#include <algorithm>
#include <set>

#include "model/topic_name.hpp"
#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::metadata_response;

constexpr io::duration auto_create_timeout = std::chrono::seconds(30);

// An image of a topic or its description.
template <class Topic>
metadata_response::metadata_response_topic describe(const Topic& topic, const leadership& all) {
  metadata_response::metadata_response_topic described;
  described.name = topic.name;
  described.topic_id = topic.id;
  described.partitions.reserve(static_cast<std::size_t>(topic.partitions));
  for (std::int32_t p = 0; p < topic.partitions; ++p) {
    auto& partition = described.partitions.emplace_back();
    partition.partition_index = model::partition_index(p);
    partition.error_code = all.error;
    partition.leader_id = all.leader;
    partition.leader_epoch = all.epoch;
    partition.replica_nodes = all.replicas;
    partition.isr_nodes = all.in_sync;
    partition.offline_replicas = all.offline;
  }
  return described;
}

metadata_response::metadata_response_topic refused(std::optional<std::string> name, const model::topic_id& id,
                                                   error_code code) {
  metadata_response::metadata_response_topic topic;
  topic.error_code = code;
  topic.name = std::move(name);
  topic.topic_id = id;
  return topic;
}

// Two clients may ask for the same missing topic at once: whoever comes second takes what the first has made.
runtime::task<result<topic_description>> make_missing(request_ptr context, std::string name, io::duration timeout) {
  topic_creation wanted;
  wanted.name = name;
  auto create = [&context, &wanted, timeout](topic_admin::described done) {
    context->broker.topics().create(std::move(wanted), timeout, std::move(done));
  };
  auto made = co_await runtime::await_callback<result<topic_description>>(create);
  if (made || made.error().code != metadata::errc::topic_exists) co_return made;
  auto found = context->broker.topics().get(name);
  if (!found) co_return made;
  co_return std::move(*found);
}

bool asks_for_all(const protocol::metadata_request& request, std::int16_t version) {
  return !request.topics || (version == 0 && request.topics->empty());
}

}  // namespace

answer_of<protocol::metadata_response> metadata(request_ptr context, protocol::metadata_request request) {
  context->accept();  // a read has no place in the order of writes
  const broker_options& options = context->broker.options();
  const cluster_view view = context->broker.view(context->connection->listener);
  const leadership braid = view.of_partitions(context->version);
  const metadata::image_ptr& image = view.image;

  const request_deadline deadline(*context, auto_create_timeout);
  metadata_response response;
  if (!image->cluster_id().is_zero()) response.cluster_id = image->cluster_id().to_string();
  response.controller_id = view.controller_id();
  for (cluster_node& node : view.nodes()) {
    if (node.alive) response.brokers.push_back({node.id, std::move(node.host), node.port, std::move(node.rack)});
  }
  if (asks_for_all(request, context->version)) {
    for (const auto& [name, topic] : image->topics()) response.topics.push_back(describe(*topic, braid));
    co_return response;
  }
  std::set<std::pair<std::optional<std::string>, model::topic_id>> answered;  // once each: a few bytes ask for many
  for (const auto& wanted : *request.topics) {
    if (!answered.emplace(wanted.name, wanted.name ? model::topic_id() : wanted.topic_id).second) continue;
    const metadata::topic_image* found = wanted.name ? image->find(*wanted.name) : image->find(wanted.topic_id);
    if (found != nullptr) {
      response.topics.push_back(describe(*found, braid));
      continue;
    }
    if (!wanted.name) {
      response.topics.push_back(refused(std::nullopt, wanted.topic_id, error_code::unknown_topic_id));
      continue;
    }
    if (!model::check_topic_name(*wanted.name)) {
      response.topics.push_back(refused(wanted.name, {}, error_code::invalid_topic_exception));
      continue;
    }
    if (!options.auto_create_topics || !request.allow_auto_topic_creation) {
      response.topics.push_back(refused(wanted.name, {}, error_code::unknown_topic_or_partition));
      continue;
    }
    const auto made = co_await make_missing(context, *wanted.name, deadline.left());
    if (made)
      response.topics.push_back(describe(*made, braid));
    else
      response.topics.push_back(refused(wanted.name, {}, wire_error(made.error().code)));
  }
  co_return response;
}

}  // namespace braidmq::server::handlers

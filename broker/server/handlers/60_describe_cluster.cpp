// DescribeCluster, versions 0 to 2: the brokers, as clients of the listener reach them, and the leader of the metadata
// quorum as the controller. A broker is fenced while this one cannot see it. Everything is allowed as long as there is
// no authorisation. Controllers (endpoint type 2) have no listener for clients.
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::describe_cluster_response;
using protocol::error_code;

constexpr std::int8_t brokers_endpoint = 1;
constexpr std::int8_t controllers_endpoint = 2;

// Bits are Kafka's AclOperation codes: those that its clusters know.
constexpr std::int32_t cluster_operation(int code) {
  return 1 << code;
}
constexpr std::int32_t all_operations = cluster_operation(5) |   // CREATE
                                        cluster_operation(7) |   // ALTER
                                        cluster_operation(8) |   // DESCRIBE
                                        cluster_operation(9) |   // CLUSTER_ACTION
                                        cluster_operation(10) |  // DESCRIBE_CONFIGS
                                        cluster_operation(11) |  // ALTER_CONFIGS
                                        cluster_operation(12);   // IDEMPOTENT_WRITE

}  // namespace

answer_of<protocol::describe_cluster_response> describe_cluster(request_ptr context,
                                                                protocol::describe_cluster_request request) {
  context->accept();
  describe_cluster_response response;
  if (request.endpoint_type != brokers_endpoint) {
    const bool known = request.endpoint_type == controllers_endpoint;
    response.error_code = known ? error_code::mismatched_endpoint_type : error_code::unsupported_endpoint_type;
    response.error_message = known ? "this listener is one of brokers, not of controllers"
                                   : fmt::format("there is no endpoint type {}", request.endpoint_type);
    co_return response;
  }
  const cluster_view view = context->broker.view(context->connection->listener);
  if (!view.image->cluster_id().is_zero()) response.cluster_id = view.image->cluster_id().to_string();
  response.controller_id = view.controller_id();
  for (cluster_node& node : view.nodes()) {
    if (!node.alive && !request.include_fenced_brokers) continue;
    response.brokers.push_back({node.id, std::move(node.host), node.port, std::move(node.rack), !node.alive});
  }
  if (request.include_cluster_authorized_operations) response.cluster_authorized_operations = all_operations;
  co_return response;
}

}  // namespace braidmq::server::handlers

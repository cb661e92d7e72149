// DescribeCluster, versions 0 to 2: this broker, as clients of the listener reach it, and itself as the controller. No
// broker is fenced: one that is not registered answers nobody. Everything is allowed as long as there is no
// authorisation. Controllers (endpoint type 2) have no listener for clients.
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
  const broker& self = context->broker;
  const metadata::image_ptr image = self.image();
  if (!image->cluster_id().is_zero()) response.cluster_id = image->cluster_id().to_string();
  response.controller_id = self.options().id;
  if (const auto address = self.advertised(context->connection->listener)) {
    response.brokers.push_back({self.options().id, address->host, address->port, std::nullopt, false});
  }
  if (request.include_cluster_authorized_operations) response.cluster_authorized_operations = all_operations;
  co_return response;
}

}  // namespace braidmq::server::handlers

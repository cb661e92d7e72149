// InitProducerId, versions 0 to 5, for idempotent producers: each call gives a new id with epoch 0. Transactional ids
// are not there yet and are refused.
#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {

answer_of<protocol::init_producer_id_response> init_producer_id(request_ptr context,
                                                                protocol::init_producer_id_request request) {
  static constexpr io::duration timeout = std::chrono::seconds(30);
  context->accept();
  protocol::init_producer_id_response response;
  if (request.transactional_id) {
    // The response has no room for words; this code is final for every client.
    response.error_code = protocol::error_code::unsupported_version;
    co_return response;
  }
  auto ask = [&context](unique_function<void(result<model::producer_id>)> done) {
    context->broker.producer_id_source().next(timeout, std::move(done));
  };
  const auto id = co_await runtime::await_callback<result<model::producer_id>>(ask);
  if (!id) {
    const auto code = wire_error(id.error().code);
    // Producers look for a coordinator again on this one, and then for us.
    response.error_code =
        code == protocol::error_code::not_controller ? protocol::error_code::coordinator_not_available : code;
    co_return response;
  }
  response.producer_id = *id;
  response.producer_epoch = model::producer_epoch(0);
  co_return response;
}

}  // namespace braidmq::server::handlers

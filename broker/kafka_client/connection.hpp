// One connection to one broker: typed requests of the Kafka protocol, one at a time, in versions that both sides speak.
//
//   BRAID_TRY(broker, connection::open({"127.0.0.1", 9092}, {}));
//   BRAID_TRY(version, broker.version_for(protocol::metadata_request::api_key));
//   BRAID_TRY(said, broker.call<protocol::metadata_response>(request, version, std::chrono::seconds(5)));
//
// Threads: an object serves one call at a time; make one per thread. Calls block, each within its own time. After a
// failed call the connection is not to be used again: an answer that is late would be taken for the next one's.
// Errors: kafka_client::errc. Error codes inside of responses are the caller's.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "io/endpoint.hpp"
#include "kafka_client/errc.hpp"
#include "kafka_client/socket.hpp"
#include "protocol/api_table.hpp"
#include "protocol/message.hpp"
#include "protocol/wire_reader.hpp"

namespace braidmq::kafka_client {

struct connection_options {
  std::chrono::milliseconds timeout = std::chrono::seconds(5);    // of connecting, up to the answer of ApiVersions
  std::size_t max_answer_bytes = std::size_t{128} << 20U;         // a Fetch asks for less
  std::size_t max_decoded_bytes = 2 * (std::size_t{128} << 20U);  // of one answer, beyond its bytes
  std::string client_id = "braidctl";
};

class connection {
 public:
  // Connects and asks what the broker speaks.
  static result<connection> open(const io::endpoint& to, connection_options options);

  const io::endpoint& peer() const { return peer_; }

  // The highest version of the API that broker and schema know, from `lowest` to `highest`; unsupported without one.
  result<std::int16_t> version_for(std::int16_t api_key,
                                   std::int16_t highest = std::numeric_limits<std::int16_t>::max(),
                                   std::int16_t lowest = 0) const;
  // The level of a feature that the whole cluster has agreed to use; 0: it has not.
  std::int16_t finalized_level(const std::string& feature) const;

  // Sends the request and waits for its answer. For requests that are answered: not for a Produce with acks=0.
  template <class Response, class Request>
  result<Response> call(const Request& request, std::int16_t version, std::chrono::milliseconds timeout) {
    byte_buffer frame;
    const std::int32_t id = ++last_correlation_id_;
    if (auto written = protocol::encode_request_frame(frame, request, version, id, options_.client_id); !written) {
      return fail(errc::invalid_request, written.error().to_string());
    }
    const protocol::api_description* api = protocol::find_api(Request::api_key);
    BRAID_TRY(body, exchange(frame.freeze(), *api, version, id, timeout));
    protocol::decode_limit limit{options_.max_decoded_bytes};
    auto answer = Response::decode(std::move(body), version, &limit);
    if (!answer) return bad_answer(answer.error().to_string());
    return std::move(*answer);
  }

 private:
  struct version_range {
    std::int16_t lowest = 0;
    std::int16_t highest = 0;
  };

  connection(io::endpoint peer, socket stream, connection_options options)
      : peer_(std::move(peer)), stream_(std::move(stream)), options_(std::move(options)) {}

  status ask_versions();
  // The body of the answer.
  result<bytes> exchange(bytes frame, const protocol::api_description& api, std::int16_t version, std::int32_t id,
                         std::chrono::milliseconds timeout);
  tl::unexpected<error> bad_answer(const std::string& why) const;

  io::endpoint peer_;
  socket stream_;
  connection_options options_;
  std::int32_t last_correlation_id_ = 0;
  std::map<std::int16_t, version_range> versions_;
  std::map<std::string, std::int16_t> finalized_;
};

}  // namespace braidmq::kafka_client

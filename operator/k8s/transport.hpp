// One HTTP/1.1 exchange with one server, as an interface, so that the library below can be replaced (and only one file
// includes it). Every exchange has a deadline over all of it, and can be ended from outside within a quarter of a
// second, whatever it waits for.
//
// Threads: any. Errors: network, tls, timed_out, canceled, bad_response (a body over the limit).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "k8s/credentials.hpp"

namespace braidmq::k8s {

struct http_request {
  std::string method;
  std::string target;  // path and query, encoded
  std::map<std::string, std::string> headers;
  std::string body;
  io::time_point deadline;
  const std::atomic<bool>* cancel = nullptr;
  bool own_connection = false;  // not from the pool, and not kept afterwards
  // An idle connection that is older may have been closed by the server in this moment.
  io::duration max_idle = std::chrono::seconds(30);
};

struct http_response {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of several, the first
  std::string body;                            // unless a sink took it
};

struct http_exchange {
  result<http_response> answer;
  bool was_sent = false;    // false: the server cannot have seen any of the request
  bool was_reused = false;  // on a connection that had been idle
};

// Takes a piece of the body; false ends the exchange (errc::canceled).
using body_sink = std::function<bool(const http_response& head, std::string_view piece)>;

class transport {
 public:
  virtual ~transport() = default;
  virtual http_exchange send(const http_request& request, const body_sink& sink = nullptr) = 0;
};

struct transport_options {
  io::duration connect_timeout = std::chrono::seconds(5);
  std::size_t max_body_bytes = 64U << 20U;
  std::size_t max_idle_connections = 8;
};

// The process must ignore SIGPIPE. `secrets` and `clock` (for the age of idle connections) outlive the transport.
std::unique_ptr<transport> make_transport(const client_config& config, credentials& secrets, const io::clock& clock,
                                          const transport_options& options = {});

}  // namespace braidmq::k8s

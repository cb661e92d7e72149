// An HTTPS server on the loopback that does what a test tells it to, byte by byte where it wants: cut lines, silence,
// resets, malformed chunks. It knows nothing of Kubernetes.
//
// Threads: one per connection; the handler runs there. Everything else from any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/k8s/test_certificates.hpp"

namespace braidmq::k8s::testing {

struct received_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // counted from 1
  int number = 0;      // on this connection, from 1

  // Of the query, decoded; empty when it is not there.
  std::string parameter(const std::string& name) const;
  std::string path() const { return target.substr(0, target.find('?')); }
};

// The server's side of a connection, for the handler.
class server_connection {
 public:
  virtual ~server_connection() = default;

  virtual void send_raw(std::string_view bytes) = 0;
  virtual void close() = 0;  // as a server does that is done: close_notify, FIN
  virtual void reset() = 0;  // RST
  // Until the client has closed the connection, or the server stops.
  virtual void wait_for_client() = 0;

  void respond(int status, std::string_view body, const std::map<std::string, std::string>& headers = {});
  void start_stream();                // 200, chunked
  void send_piece(std::string_view);  // one chunk
  void send_line(std::string_view line) { send_piece(std::string(line) + "\n"); }
  void end_stream() { send_raw("0\r\n\r\n"); }
};

class fake_api_server {
 public:
  using handler = std::function<void(const received_request&, server_connection&)>;

  fake_api_server(key_pair certificate, handler on_request);
  ~fake_api_server();

  std::uint16_t port() const;
  void use_certificate(key_pair certificate);  // for connections from now on
  void set_silent_handshake(bool silent);      // accepts, and then says nothing at all
  void stop();                                 // resets all connections

  std::vector<received_request> requests() const;
  int connections() const;  // accepted so far
  // Blocks until that many requests have come; false after 10 s.
  bool wait_for_requests(std::size_t count) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::k8s::testing

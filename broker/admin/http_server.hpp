// The HTTP port of a broker: health, metrics, and the API for operators (broker/docs/http-api.md), on threads of its
// own. Reads are open; changes need a secret of `secret_file`. Everything that a client can send is bounded: headers 32
// KiB, path 1 KiB, body 1 MiB, a request 5 s, an idle connection 1 s, 128 connections at once. Plain HTTP: not for the
// open internet.
//
// Callbacks and the backend run on those threads: they may block, but not for long.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "admin/backend.hpp"
#include "admin/callbacks.hpp"
#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::admin {

struct http_options {
  io::endpoint listen{"127.0.0.1", 9644};
  reasons_callback not_live;   // none given: live as long as it answers
  reasons_callback not_ready;  // none given: never ready, because nobody said so
  std::vector<metrics_callback> metrics;
  std::shared_ptr<backend> api = nullptr;                            // none: health and metrics only
  std::string secret_file = {};                                      // none: no changes
  std::chrono::milliseconds request_time = std::chrono::seconds(5);  // in which a request must have come whole
};

class http_server {
 public:
  // Listens and serves from here on. Errors: those of net::tcp_listener::open; cluster_authorization_failed when the
  // secret file cannot be used.
  static result<std::unique_ptr<http_server>> start(http_options options);
  ~http_server();  // stop()

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  // Answers what is under way, then ends all threads.
  void stop();

  std::uint16_t port() const;

 private:
  struct state;
  explicit http_server(std::unique_ptr<state> of);

  std::unique_ptr<state> state_;
};

}  // namespace braidmq::admin

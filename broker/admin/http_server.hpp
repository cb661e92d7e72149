// The HTTP port for operators, on threads of its own: GET /livez, /readyz, /metrics. Everything else is 404 with JSON.
// Callbacks run on those threads: they must not block for long (a shard's figures are fetched by post, with a
// deadline). Not for strangers (design, section 11): it serves health and metrics; no request body is ever read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::admin {

// Why this broker is not live, or not ready; empty: it is. Shown as they are, so they hold no secrets.
using reasons_callback = std::function<std::vector<std::string>()>;
using metrics_callback = std::function<std::vector<prometheus::MetricFamily>()>;

struct http_options {
  io::endpoint listen{"127.0.0.1", 9644};
  reasons_callback not_live;   // none given: live as long as it answers
  reasons_callback not_ready;  // none given: never ready, because nobody said so
  std::vector<metrics_callback> metrics;
};

class http_server {
 public:
  // Listens and serves from here on. Errors: those of net::tcp_listener::open.
  static result<std::unique_ptr<http_server>> start(http_options options);
  ~http_server();  // stop()

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  // Answers what is under way (a second at most for idle connections), then ends all threads.
  void stop();

  std::uint16_t port() const;

 private:
  struct state;
  explicit http_server(std::unique_ptr<state> of);

  std::unique_ptr<state> state_;
};

}  // namespace braidmq::admin

// GET /healthz (nothing hangs), /readyz (caches are filled; one that waits for the Lease is ready too) and /metrics, on
// threads of their own. Every other request is 404; no body is read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::operator_app {

struct health_options {
  io::endpoint listen;
  std::function<std::vector<std::string>()> not_healthy;  // reasons
  std::function<std::vector<std::string>()> not_ready;
  std::function<std::string()> metrics;  // in Prometheus' text format
};

class health_server {
 public:
  static result<std::unique_ptr<health_server>> start(health_options options);
  ~health_server();

  std::uint16_t port() const;

 private:
  struct state;
  explicit health_server(std::unique_ptr<state> of);
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::operator_app

// From method and path to the resource's function; counts requests by route and status.
//
// Routes are added before the first request; then any thread may call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "admin/exchange.hpp"
#include "base/histogram.hpp"

namespace braidmq::admin {

struct route {
  std::string_view method;
  std::string_view pattern;  // "/v1/topics/{name}": {name} is one whole segment and not empty
  std::function<http_response(const http_request&)> handle;
};

class router {
 public:
  void add(std::vector<route> routes);

  // Where a request belongs. Null: nowhere, and `refusal` says why (404, or 405 with the methods that are there).
  struct match {
    const route* to = nullptr;
    std::string name;  // decoded
    http_response refusal;
  };
  // `raw_path`: as it came, percent-encoded, without the query. HEAD goes where GET does.
  match find(std::string_view method, std::string_view raw_path) const;

  // `to` null: requests that belong nowhere count as route "none".
  void count(const route* to, int status, std::chrono::nanoseconds took);
  std::vector<prometheus::MetricFamily> metrics() const;

 private:
  std::vector<route> routes_;
  mutable std::mutex mutex_;  // guards what follows, for a few instructions
  std::map<std::pair<const route*, int>, std::uint64_t> requests_;
  std::map<const route*, histogram> latency_us_;
};

// "a%20b" -> "a b". Nothing when it is not well-formed. '+' stays.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace braidmq::admin

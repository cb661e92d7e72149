// GET /metrics: the text format of Prometheus. GET /v1/events: not built yet.
#include <sstream>

#include <prometheus/text_serializer.h>

#include "admin/metrics.hpp"
#include "admin/resources.hpp"

namespace braidmq::admin {
namespace {

std::string scrape(const std::vector<metrics_callback>& sources) {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& source : sources) {
    for (auto& family : source()) families.push_back(std::move(family));
  }
  auto lost = counter_family("metrics_series_dropped_total", "Series beyond the bound of their family");
  add_value(lost, static_cast<double>(dropped_series()));
  families.push_back(std::move(lost));
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace

std::vector<route> metrics_routes(std::vector<metrics_callback> sources) {
  return {
      {"GET", "/metrics",
       [sources = std::move(sources)](const http_request&) {
         return http_response{.status = 200,
                              .body = scrape(sources),
                              .content_type = "text/plain; version=0.0.4; charset=utf-8",
                              .headers = {}};
       }},
      {"GET", "/v1/events",
       [](const http_request&) {
         return error_response(admin_client::errc::not_found, "the event log is not built yet");
       }},
  };
}

}  // namespace braidmq::admin

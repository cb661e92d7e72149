#include "admin/router.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "admin/metrics.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;

constexpr std::string_view wildcard = "{name}";

// The segment that stands for {name}, still encoded; nothing when the path is another.
std::optional<std::string_view> matched(std::string_view pattern, std::string_view path) {
  const auto at = pattern.find(wildcard);
  if (at == std::string_view::npos) return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  if (!path.starts_with(pattern.substr(0, at))) return std::nullopt;
  const std::string_view name = path.substr(at);
  if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  return name;
}

bool takes(const route& one, std::string_view method) {
  return one.method == method || (method == "HEAD" && one.method == "GET");
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    unsigned value = 0;
    if (text.size() - at < 3) return std::nullopt;
    const char* digits = text.data() + at + 1;
    const auto [end, code] = std::from_chars(digits, digits + 2, value, 16);
    if (code != std::errc{} || end != digits + 2) return std::nullopt;
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

void router::add(std::vector<route> routes) {
  std::ranges::move(routes, std::back_inserter(routes_));
}

router::match router::find(std::string_view method, std::string_view raw_path) const {
  std::string allowed;
  for (const route& one : routes_) {
    const auto name = matched(one.pattern, raw_path);
    if (!name) continue;
    if (!takes(one, method)) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(one.method);
      continue;
    }
    const auto decoded = percent_decoded(*name);
    if (!decoded) return {nullptr, {}, error_response(errc::invalid_request, "the path is not well-formed")};
    return {&one, *decoded, {}};
  }
  if (allowed.empty()) return {nullptr, {}, error_response(errc::not_found, "there is nothing here")};
  http_response refusal =
      error_response(errc::invalid_request, fmt::format("the methods of this path are {}", allowed), 405);
  refusal.headers["Allow"] = allowed;
  return {nullptr, {}, std::move(refusal)};
}

void router::count(const route* to, int status, std::chrono::nanoseconds took) {
  const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const std::scoped_lock lock(mutex_);
  ++requests_[{to, status}];
  latency_us_[to].record(static_cast<std::uint64_t>(std::max<std::int64_t>(took_us, 0)));
}

std::vector<prometheus::MetricFamily> router::metrics() const {
  const auto labels_of = [](const route* to) {
    return metric_labels{{"method", to == nullptr ? "none" : std::string(to->method)},
                         {"route", to == nullptr ? "none" : std::string(to->pattern)}};
  };
  auto requests = counter_family("http_requests_total", "Requests of the HTTP API by method, route and status");
  auto latency = histogram_family("http_request_seconds", "From a whole request to its answer, by method and route");
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, count] : requests_) {
    metric_labels labels = labels_of(key.first);
    labels.emplace_back("status", std::to_string(key.second));
    add_value(requests, static_cast<double>(count), std::move(labels));
  }
  for (const auto& [to, values] : latency_us_) add_histogram(latency, values, 1e-6, 4, 26, labels_of(to));
  std::vector<prometheus::MetricFamily> families;
  families.push_back(std::move(requests));
  families.push_back(std::move(latency));
  return families;
}

}  // namespace braidmq::admin

#include "admin/metrics.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace braidmq::admin {
namespace {

std::atomic<std::uint64_t> dropped{0};

prometheus::MetricFamily family_of(prometheus::MetricType type, std::string_view name, std::string_view help) {
  const bool valid = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  BRAID_CHECK(valid && !name.starts_with("braidmq"), "metric name \"{}\"", name);
  return {.name = "braidmq_" + std::string(name), .help = std::string(help), .type = type, .metric = {}};
}

// The series to fill, or nothing when the family is full.
prometheus::ClientMetric* add_series(prometheus::MetricFamily& family, metric_labels labels) {
  if (family.metric.size() >= max_series_per_family) {
    dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto& series = family.metric.emplace_back();
  for (auto& [name, value] : labels) series.label.push_back({std::move(name), std::move(value)});
  return &series;
}

}  // namespace

prometheus::MetricFamily counter_family(std::string_view name, std::string_view help) {
  BRAID_CHECK(name.ends_with("_total"), "counter \"{}\" must end with _total", name);
  return family_of(prometheus::MetricType::Counter, name, help);
}

prometheus::MetricFamily gauge_family(std::string_view name, std::string_view help) {
  return family_of(prometheus::MetricType::Gauge, name, help);
}

prometheus::MetricFamily histogram_family(std::string_view name, std::string_view help) {
  return family_of(prometheus::MetricType::Histogram, name, help);
}

void add_value(prometheus::MetricFamily& family, double value, metric_labels labels) {
  BRAID_CHECK(family.type != prometheus::MetricType::Histogram, "{} needs a histogram", family.name);
  auto* series = add_series(family, std::move(labels));
  if (series == nullptr) return;
  if (family.type == prometheus::MetricType::Counter)
    series->counter.value = value;
  else
    series->gauge.value = value;
}

void add_histogram(prometheus::MetricFamily& family, const histogram& values, double unit, unsigned first_exponent,
                   unsigned last_exponent, metric_labels labels) {
  BRAID_CHECK(family.type == prometheus::MetricType::Histogram, "{} is not a histogram", family.name);
  BRAID_CHECK(first_exponent <= last_exponent && last_exponent < 64);
  auto* series = add_series(family, std::move(labels));
  if (series == nullptr) return;
  auto& target = series->histogram;
  target.sample_count = values.count();
  target.sample_sum = static_cast<double>(values.sum()) * unit;
  for (unsigned exponent = first_exponent; exponent <= last_exponent; ++exponent) {
    target.bucket.push_back({.cumulative_count = values.count_below_power_of_two(exponent),
                             .upper_bound = std::ldexp(unit, static_cast<int>(exponent))});
  }
  target.bucket.push_back({.cumulative_count = values.count(), .upper_bound = std::numeric_limits<double>::infinity()});
}

std::uint64_t dropped_series() {
  return dropped.load(std::memory_order_relaxed);
}

}  // namespace braidmq::admin

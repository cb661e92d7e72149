// Metric families in the form that a scrape writes. The names are braidmq_..., in base units (seconds, bytes), counters
// end with _total. Labels are bounded: never a client id, never a text of an error; a family takes at most
// max_series_per_family series, and what is beyond is counted in braidmq_metrics_series_dropped_total.
// Source: Prometheus documentation, "Metric and label naming", "Exposition formats".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "base/histogram.hpp"

namespace braidmq::admin {

inline constexpr std::size_t max_series_per_family = 10'000;

using metric_labels = std::vector<std::pair<std::string, std::string>>;

// `name` without the prefix.
prometheus::MetricFamily counter_family(std::string_view name, std::string_view help);
prometheus::MetricFamily gauge_family(std::string_view name, std::string_view help);
prometheus::MetricFamily histogram_family(std::string_view name, std::string_view help);

// Adds one series to a counter or gauge family.
void add_value(prometheus::MetricFamily& family, double value, metric_labels labels = {});

// Adds one series to a histogram family. `unit`: what one recorded step is in base units: 1e-6 for microseconds, 1 for
// bytes. The buckets are powers of two between the two exponents.
void add_histogram(prometheus::MetricFamily& family, const histogram& values, double unit, unsigned first_exponent,
                   unsigned last_exponent, metric_labels labels = {});

std::uint64_t dropped_series();

}  // namespace braidmq::admin

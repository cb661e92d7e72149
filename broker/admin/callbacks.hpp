// What the HTTP port asks the program for. Called on admin threads: they must not block for long.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

namespace braidmq::admin {

// Why this broker is not live, or not ready; empty: it is. Shown as they are, so they hold no secrets.
using reasons_callback = std::function<std::vector<std::string>()>;
using metrics_callback = std::function<std::vector<prometheus::MetricFamily>()>;

}  // namespace braidmq::admin

#pragma once

#include "resources/names.hpp"

namespace braidmq::resources {

// For a Prometheus operator: scrape /metrics of every broker.
json pod_monitor(const api::braid_cluster& cluster);

}  // namespace braidmq::resources

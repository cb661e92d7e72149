// braidmq_operator_...: what the operator does and how it fares. Objects appear as counts by state, except clusters,
// whose series end with them.
#pragma once

#include <string>
#include <vector>

#include "k8s/event_writer.hpp"
#include "k8s/http_client.hpp"
#include "k8s/leader_elector.hpp"
#include "operator_app/unit.hpp"

namespace braidmq::operator_app {

struct metric_sources {
  std::vector<const unit*> units;
  std::vector<const k8s::http_client*> clients;
  const k8s::event_writer* events = nullptr;
  bool leading = false;
  std::uint64_t leases_lost = 0;
};

std::string render_metrics(const metric_sources& from);

}  // namespace braidmq::operator_app

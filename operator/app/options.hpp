// What braid-operator is told by its command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "io/endpoint.hpp"

namespace braidmq::operator_app {

struct options {
  std::vector<std::string> namespaces;  // none: all
  std::string own_namespace;            // of this pod
  std::string instance;                 // this pod's name, or the host's

  std::string broker_image;
  std::string cluster_domain;
  io::endpoint http;
  std::string initial_objects;  // name of a ConfigMap in the own namespace; empty: none

  bool elect = true;
  std::string lease_namespace;
  std::string lease_name;
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};

  std::string kubeconfig;  // for development; empty: in a pod the pod's
  std::string log_level;
  std::string log_format;
};

// Nothing: the process ends with `exit_code` (help, version, a wrong option, of which the user has been told).
std::optional<options> read_options(int argc, char** argv, int& exit_code);

}  // namespace braidmq::operator_app

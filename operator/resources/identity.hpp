// Who a cluster is: its id, and whether it has been founded. It stands in a ConfigMap that has no owner: data outlive a
// BraidCluster that is deleted (deletionPolicy Retain), and with the data this.
#pragma once

#include <optional>
#include <string>

#include "resources/names.hpp"

namespace braidmq::resources {

struct identity {
  std::string cluster_id;
  bool existing = false;  // braid.bootstrap: once the broker has told the id, for ever

  friend bool operator==(const identity&, const identity&) = default;
};

// The ConfigMap <cluster>-identity.
json identity_map(const api::braid_cluster& cluster, const identity& of);

// Nothing when the document holds no id: it was made by someone else, or emptied.
std::optional<identity> read_identity(const json& config_map);

}  // namespace braidmq::resources

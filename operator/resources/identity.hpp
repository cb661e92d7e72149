// Who a cluster is: its id, who votes in it, and whether it has been founded. It stands in a ConfigMap that has no
// owner: data outlive a BraidCluster that is deleted (deletionPolicy Retain), and with the data this.
#pragma once

#include <optional>
#include <string>

#include "resources/voters.hpp"

namespace braidmq::resources {

inline constexpr const char* voters_key = "voters";  // of the ConfigMap

struct identity {
  std::string cluster_id;
  bool existing = false;  // braid.bootstrap: once the broker has told the id, for ever
  voter_list voters;      // empty: of a version that knew of clusters of one broker only

  friend bool operator==(const identity&, const identity&) = default;
};

// The ConfigMap <cluster>-identity.
json identity_map(const api::braid_cluster& cluster, const identity& of);

// Nothing when the document holds no id, or voters that cannot be read: it was made by someone else, or edited.
std::optional<identity> read_identity(const json& config_map);

}  // namespace braidmq::resources

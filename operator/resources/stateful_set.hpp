// The StatefulSet of a pool. OnDelete, because the operator alone decides when a broker stops; Parallel, because
// ordered starts hang on one broken pod. Claims are kept whatever happens to it.
#pragma once

#include "resources/identity.hpp"

namespace braidmq::resources {

// What the pods of a pool need beside the two CRs.
struct pod_inputs {
  std::string image;
  std::string config_hash;
  std::string cluster_id;
  std::string cluster_domain = "cluster.local";
  voter_list voters;
};

// A broker of several: it knows the others and has ports for them. One alone has neither.
inline bool has_peers(const voter_list& voters) {
  return voters.size() > 1;
}

json pod_template(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs);

// With the pod template's revision noted in its annotations.
json stateful_set(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs);

}  // namespace braidmq::resources

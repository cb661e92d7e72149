// Asks a cluster's broker every few seconds how it is and, when its metadata log has moved, for its topics; pushes what
// it must advertise. No condition is written here: what has changed is told, and the reconcilers of clusters and topics
// look at it.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

struct poll_result {
  bool cluster_changed = false;             // something that the BraidCluster's status shows
  std::vector<object_key> topics;           // Topics that are not what their last status says, or wait for this broker
  std::optional<io::duration> again_after;  // nothing: when a pod changes
};

poll_result poll_broker(environment& env, const object_key& cluster);

// The broker of the cluster that is asked first: its container runs and its address is known, it is ready if any is,
// and answered last time if it is one of several.
std::shared_ptr<const api::pod> pod_to_ask(const environment& env, const object_key& cluster);

// A client of that broker's HTTP API.
result<std::unique_ptr<admin_client::client>> connect_to(environment& env, const object_key& cluster,
                                                         const api::pod& pod);

}  // namespace braidmq::reconcile

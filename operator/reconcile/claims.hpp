// Deletion of volumes: only with a policy Delete, only claims that carry the cluster's id, only when no pod is left.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

// Deletes the claims that a label selector finds and whose annotation names `cluster_id`; reads and deletes live, each
// by its UID. The result: those that are not gone yet.
result<std::vector<api::claim>> delete_claims(environment& env, const std::string& namespace_name,
                                              const std::string& selector, const std::string& cluster_id);

// Whether any claim of the cluster is there, and the id that they carry.
struct found_claims {
  bool any = false;
  std::string cluster_id;
  std::string voters;             // as a claim is annotated with; empty: with none
  std::vector<std::string> pods;  // whose data folder one of that id is, by name
};
result<found_claims> find_claims(environment& env, const object_key& cluster);

// Pods that a label selector finds, asked of the server; of many the first few.
result<std::vector<api::row>> live_pods(environment& env, const std::string& namespace_name,
                                        const std::string& selector);

std::string cluster_selector_text(const std::string& cluster);
std::string pool_selector_text(const std::string& cluster, const std::string& pool);

}  // namespace braidmq::reconcile

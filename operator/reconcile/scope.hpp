// Which pools make up a cluster, and whether this version can run it: clusters of one broker. What it cannot do yet is
// said in words and nothing is made.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

using cluster_ptr = std::shared_ptr<const api::braid_cluster>;
using pool_ptr = std::shared_ptr<const api::braid_pool>;
using pod_ptr = std::shared_ptr<const api::pod>;
using topic_ptr = std::shared_ptr<const api::topic>;

// Not those that are being deleted, by name.
std::vector<pool_ptr> pools_of(const caches& from, const object_key& cluster);
// By name, terminating ones too.
std::vector<pod_ptr> pods_of(const caches& from, const api::braid_pool& pool);
// By the topics' names.
std::vector<topic_ptr> topics_of(const caches& from, const object_key& cluster);

// Its StatefulSet, if it is there and the pool's.
std::shared_ptr<const api::stateful_set> stateful_set_of(const caches& from, const api::braid_pool& pool);

// Why no broker of this pool may be made. A pool that has its StatefulSet goes on whatever its neighbours ask for.
std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster,
                                     const api::braid_pool& pool);
// The same for the whole cluster, for its conditions.
std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster);

// How many brokers the pool has, or may have: what its StatefulSet says, whatever the spec asks for meanwhile.
int brokers_of(const caches& from, const api::braid_cluster& cluster, const api::braid_pool& pool);

// The cluster really is not there: asked of the server, because deletions follow from it.
result<bool> cluster_is_gone(environment& env, const object_key& cluster);

}  // namespace braidmq::reconcile

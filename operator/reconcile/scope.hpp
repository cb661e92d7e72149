// Which pools make up a cluster, which of their brokers vote, and whether this version can run it. Brokers that do not
// vote are not built yet: they are not started, and said in words.
#pragma once

#include "reconcile/environment.hpp"
#include "resources/identity.hpp"

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

// The identity as the cache has it; nothing before it is made.
std::optional<resources::identity> cached_identity(const caches& from, const object_key& cluster);

// Who would vote if the cluster were made now, of the pools that are there; none when `why_not` says why.
resources::voter_list plan_voters(const caches& from, const api::braid_cluster& cluster,
                                  std::optional<problem>& why_not);

// Why no broker of this pool may be made: none of them votes.
std::optional<problem> scope_problem(const api::braid_pool& pool, const resources::identity& who, bool runs);
// Why no broker of the cluster may be made.
std::optional<problem> scope_problem(const caches& from, const api::braid_cluster& cluster);

// How many brokers the pool's StatefulSet is to have: those that vote, whatever the spec asks for, as a founding needs
// every one of them. Only before it may a whole pool be stopped by spec.replicas 0, and started again.
int replicas_of(const api::braid_pool& pool, const resources::identity& who);

// What of spec.replicas is not done, and what to set it back to; empty: nothing.
std::string held_replicas(const api::braid_pool& pool, const resources::identity& who);

// The cluster really is not there: asked of the server, because deletions follow from it.
result<bool> cluster_is_gone(environment& env, const object_key& cluster);

}  // namespace braidmq::reconcile

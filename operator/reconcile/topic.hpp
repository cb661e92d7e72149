// Topic: made, grown, reconfigured and, with deletionPolicy Delete, deleted as its spec says; changes made elsewhere
// are set back. Never blocked by a cluster that is gone.
#pragma once

#include "reconcile/scope.hpp"

namespace braidmq::reconcile {

result<outcome> reconcile_topic(environment& env, const object_key& key);

// Topics that speak of the same topic of the same cluster, itself left out: they look again when it changes or goes.
std::vector<topic_ptr> namesakes(const caches& from, const api::topic& of);

// Of those that manage a name, the oldest owns it. Kubernetes tells ages in whole seconds: of two that are equally old,
// the one that has its topic already, then the one with the smallest UID. Null: `of` itself.
topic_ptr owner_of_name(const caches& from, const api::topic& of);

}  // namespace braidmq::reconcile

// Which Topics of a cluster have to be looked at, after its metadata log has moved: one list of the broker's topics, a
// page at a time, beside the rows, instead of a question for each Topic.
#pragma once

#include "reconcile/scope.hpp"

namespace braidmq::reconcile {

// Those that the broker shows otherwise than their last status does, and those whose trouble may be over by now. With
// `broker_is_new` all that are in trouble.
result<std::vector<object_key>> topics_to_look_at(const caches& from, const object_key& cluster,
                                                  admin_client::client& broker, bool broker_is_new);

}  // namespace braidmq::reconcile

#pragma once

#include "reconcile/topic.hpp"

namespace braidmq::reconcile {

// A Topic that is being deleted and still has our finalizer. The topic itself goes only with deletionPolicy Delete; the
// Topic is let go at once when its cluster is gone or going, when its namespace is, when another Topic owns the name,
// or when the annotation braidmq.io/abandon asks for it.
result<outcome> finish_topic_deletion(environment& env, const api::topic& topic);

}  // namespace braidmq::reconcile

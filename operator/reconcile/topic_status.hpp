// The status of a Topic, from what one pass has seen.
#pragma once

#include "admin_client/types.hpp"
#include "reconcile/topic.hpp"

namespace braidmq::reconcile {

struct topic_view {
  std::optional<admin_client::topic_info> there;  // what the broker has; else the last known figures stay
  bool synced = false;                            // it is what the spec says
  bool missing = false;                           // the broker said that there is none: id and figures are taken back
  topic_ptr conflict;                             // who owns the name
  std::optional<problem> trouble;                 // why it is not Ready
  bool transient = false;                         // the trouble may pass by itself: conditions wait for it
  bool paused = false;
};

json topic_status(const api::topic& topic, const topic_view& view, std::int64_t now_s);

// Writes it, and tells of changes by events.
result<io::duration> write_topic_status(environment& env, const api::topic& topic, const topic_view& view);

}  // namespace braidmq::reconcile

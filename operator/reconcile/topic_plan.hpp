// What has to be done to a topic, as a pure function of what is wanted and what is there.
#pragma once

#include <optional>

#include "admin_client/types.hpp"
#include "api/topic.hpp"
#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

struct topic_plan {
  enum class step { nothing, create, change };
  step next = step::nothing;
  admin_client::topic_creation creation;
  admin_client::topic_change change;
  std::vector<std::string> words;     // of the change, for an event
  std::optional<problem> impossible;  // a difference that cannot be removed
};

// `there` is null when the broker has no topic of that name.
topic_plan plan_topic(const api::topic& wanted, const admin_client::topic_info* there);

}  // namespace braidmq::reconcile

#include "reconcile/topic.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reconcile/poll.hpp"
#include "reconcile/scope.hpp"
#include "reconcile/topic_deletion.hpp"
#include "reconcile/topic_plan.hpp"
#include "reconcile/topic_status.hpp"
#include "reconcile/write.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto retry = std::chrono::seconds(2);

void tell(environment& env, const api::topic& topic, const char* reason, const char* action, const std::string& note) {
  env.events.record(reference(api::topic_type, topic), k8s::event_type::normal, reason, action, note);
}

// A refusal of the broker, as the reason and words of a condition.
problem refusal(const error& why) {
  const auto code = static_cast<admin_client::errc>(why.code.value());
  switch (code) {
    case admin_client::errc::invalid_config:
      return {"InvalidConfig", why.message};
    case admin_client::errc::invalid_partitions:
      return {"InvalidPartitions", why.message};
    case admin_client::errc::invalid_replication_factor:
      return {"InvalidReplicationFactor", why.message};
    case admin_client::errc::invalid_topic_exception:
      return {"InvalidTopicName", why.message};
    case admin_client::errc::cluster_authorization_failed:
      return {"NotAuthorized",
              fmt::format("{}: the broker has another secret than Secret <cluster>-secret; restart the "
                          "broker's pod",
                          why.message)};
    default:
      return {"Refused", why.to_string()};
  }
}

bool is_refusal(const error& why) {
  if (why.code.category() != make_error_code(admin_client::errc::unreachable).category()) return false;
  const auto code = static_cast<admin_client::errc>(why.code.value());
  // The topic changed between two calls: the next pass sees how it is now.
  const bool raced = code == admin_client::errc::topic_already_exists || code == admin_client::errc::unknown_topic_id ||
                     code == admin_client::errc::unknown_topic_or_partition;
  return !raced && !admin_client::is_transient(code) && code != admin_client::errc::bad_answer;
}

// One pass over a Topic that is not being deleted.
class pass {
 public:
  pass(environment& env, const api::topic& topic) : env_(env), topic_(topic) {}

  result<outcome> run();

 private:
  bool blocked();
  result<outcome> with_broker(admin_client::client& broker);
  result<outcome> missing(admin_client::client& broker);
  result<outcome> present(admin_client::client& broker, admin_client::topic_info there);
  result<outcome> change(admin_client::client& broker, const topic_plan& plan, admin_client::topic_info there);
  bool was_not_kept(const admin_client::topic_info& there) const;
  result<outcome> unreachable(const error& why);
  result<outcome> refused(const error& why, std::optional<admin_client::topic_info> there = std::nullopt);
  result<outcome> write(io::duration look_again = {});

  environment& env_;
  const api::topic& topic_;
  topic_view view_;
};

result<outcome> pass::write(io::duration look_again) {
  BRAID_TRY(pause, write_topic_status(env_, topic_, view_));
  const auto next = std::max(pause, look_again);
  return next > io::duration{} ? again_after(next) : done();
}

// What needs no broker to be said.
bool pass::blocked() {
  if (topic_.management == api::management::paused) {
    view_.paused = true;
    return true;
  }
  const auto cluster = env_.caches.clusters.find(topic_.cluster_key());
  if (cluster != nullptr && !cluster->deleting && cluster->paused) {
    view_.paused = true;
    return true;
  }
  if (topic_.management == api::management::managed) view_.conflict = owner_of_name(env_.caches, topic_);
  if (view_.conflict != nullptr) {
    view_.trouble =
        problem{"Conflict", fmt::format("Topic {} is older and owns the name \"{}\": delete one of the two, or "
                                        "give this one another spec.topicName",
                                        view_.conflict->key.to_string(), topic_.topic_name)};
    return true;
  }
  if (cluster == nullptr || cluster->deleting) {
    view_.trouble =
        problem{"ClusterMissing", fmt::format("there is no BraidCluster {} in namespace {}: apply it, or delete "
                                              "this Topic",
                                              topic_.cluster, topic_.key.namespace_name)};
    return true;
  }
  return false;
}

result<outcome> pass::run() {
  if (blocked()) {
    // It will never write: it must not hold up its own deletion either.
    if (view_.conflict != nullptr)
      BRAID_TRY_VOID(remove_finalizer(env_, api::topic_type, topic_, api::topic_finalizer));
    return write();
  }
  const bool guard =
      topic_.deletion_policy == api::deletion_policy::remove && topic_.management == api::management::managed;
  if (guard)
    BRAID_TRY_VOID(add_finalizer(env_, api::topic_type, topic_, api::topic_finalizer));
  else
    BRAID_TRY_VOID(remove_finalizer(env_, api::topic_type, topic_, api::topic_finalizer));
  // Whether the broker is there again, the poll finds out and queues all Topics: a call of each would hold up other
  // clusters'.
  const auto state = env_.brokers.find(topic_.cluster_key());
  if (state->failures > 0 && !state->reachable(env_.clock.now()))
    return unreachable({make_error_code(admin_client::errc::unreachable), state->last_error});
  const auto pod = pod_to_ask(env_, topic_.cluster_key());
  if (pod == nullptr)
    return unreachable({make_error_code(admin_client::errc::unreachable), "no broker of the cluster runs"});
  auto broker = connect_to(env_, topic_.cluster_key(), *pod);
  if (!broker) return unreachable(broker.error());
  return with_broker(**broker);
}

// One failed call changes no condition; when the cluster does not answer for long, the Topic says so.
result<outcome> pass::unreachable(const error& why) {
  const auto state = env_.brokers.find(topic_.cluster_key());
  const bool was_ready = api::is_true(topic_.conditions, "Ready");
  if (was_ready && (state->reachable(env_.clock.now()) || (!state->answered && state->failures < 3)))
    return again_after(retry);
  view_.trouble = problem{"ClusterNotReady", fmt::format("BraidCluster {} cannot be asked: see kubectl describe "
                                                         "braidcluster {}",
                                                         topic_.cluster, topic_.cluster)};
  view_.transient = true;
  static_cast<void>(why);
  const bool told_when_back = state->failures > 0 && !state->reachable(env_.clock.now());
  return write(told_when_back ? io::duration{} : io::duration(retry));
}

result<outcome> pass::refused(const error& why, std::optional<admin_client::topic_info> there) {
  if (!is_refusal(why)) return unreachable(why);
  view_.there = std::move(there);
  view_.trouble = refusal(why);
  // Secrets are not watched.
  return write(view_.trouble->reason == "NotAuthorized" ? io::duration(std::chrono::seconds(30)) : io::duration{});
}

result<outcome> pass::with_broker(admin_client::client& broker) {
  auto there = broker.topic(topic_.topic_name);
  if (there) return present(broker, std::move(*there));
  if (there.error().code == admin_client::errc::unknown_topic_or_partition) return missing(broker);
  return refused(there.error());
}

result<outcome> pass::missing(admin_client::client& broker) {
  if (topic_.management == api::management::observe) {
    view_.missing = true;
    view_.trouble =
        problem{"TopicMissing",
                fmt::format("the cluster has no topic {}: create it, or set management to Managed", topic_.topic_name)};
    return write();
  }
  if (!topic_.topic_id.empty()) {
    // Deleted by somebody else. The old id is given up first: a pass that dies after the creation must not take the
    // new topic for a stranger's.
    view_.missing = true;
    view_.transient = true;
    view_.trouble = problem{
        "TopicVanished", fmt::format("topic {} was deleted outside of Kubernetes and is made anew", topic_.topic_name)};
    return write(std::chrono::milliseconds(50));
  }
  auto made = broker.create_topic(plan_topic(topic_, nullptr).creation);
  if (!made) return refused(made.error());
  tell(env_, topic_, "TopicCreated", "CreateTopic",
       fmt::format("topic {} with {} partitions, id {}", made->name, made->partitions, made->id));
  view_.there = std::move(*made);
  view_.synced = true;
  return write();
}

result<outcome> pass::present(admin_client::client& broker, admin_client::topic_info there) {
  if (!topic_.topic_id.empty() && topic_.topic_id != there.id) {
    view_.trouble =
        problem{"TopicReplaced", fmt::format("topic {} has id {} and this Topic made {}: it was deleted and made "
                                             "again outside of Kubernetes. To adopt it, delete this Topic with "
                                             "deletionPolicy Retain and apply it again",
                                             topic_.topic_name, there.id, topic_.topic_id)};
    return write();
  }
  if (topic_.management == api::management::observe) {
    view_.there = std::move(there);
    return write();
  }
  const auto plan = plan_topic(topic_, &there);
  if (plan.next == topic_plan::step::change && !was_not_kept(there)) return change(broker, plan, std::move(there));
  view_.trouble = plan.impossible;
  if (plan.next == topic_plan::step::change) {
    view_.trouble = problem{"ConfigNotKept", fmt::format("the broker keeps these otherwise, write them as it does: {}",
                                                         fmt::join(plan.words, ", "))};
  }
  view_.there = std::move(there);
  view_.synced = !view_.trouble;
  return write();
}

// The same change was made at this entry of the metadata log already and is not what the broker shows: made again, it
// would be made for ever.
bool pass::was_not_kept(const admin_client::topic_info& there) const {
  const auto* ready = api::find(topic_.conditions, "Ready");
  return ready != nullptr && ready->reason == "ConfigNotKept" && ready->observed_generation == topic_.generation &&
         topic_.metadata_index == static_cast<std::int64_t>(there.changed_index);
}

result<outcome> pass::change(admin_client::client& broker, const topic_plan& plan, admin_client::topic_info there) {
  auto changed = broker.change_topic(plan.change);
  if (!changed) return refused(changed.error(), std::move(there));
  tell(env_, topic_, plan.change.partitions ? "TopicGrown" : "TopicConfigured", "ChangeTopic",
       fmt::format("topic {}: {}", topic_.topic_name, fmt::join(plan.words, ", ")));
  const auto rest = plan_topic(topic_, &*changed);
  view_.trouble = rest.impossible;
  if (rest.next == topic_plan::step::change) {
    view_.trouble = problem{"ConfigNotKept", fmt::format("the broker keeps these otherwise, write them as it does: {}",
                                                         fmt::join(rest.words, ", "))};
  }
  view_.there = std::move(*changed);
  view_.synced = !view_.trouble;
  return write();
}

}  // namespace

std::vector<topic_ptr> namesakes(const caches& from, const api::topic& of) {
  auto all = from.topics.find_by(of.key.namespace_name, of.cluster, of.topic_name);
  std::erase_if(all, [&of](const topic_ptr& other) { return other->uid == of.uid; });
  return all;
}

topic_ptr owner_of_name(const caches& from, const api::topic& of) {
  const auto age = [](const api::topic& topic) {
    return std::make_tuple(topic.created_s, topic.topic_id.empty(), std::string_view(topic.uid));
  };
  topic_ptr owner;
  for (const auto& other : namesakes(from, of)) {
    if (other->management == api::management::observe || age(*other) >= age(of)) continue;
    // One that goes and does not take the topic along leaves the name to the next.
    if (other->deleting && !other->has_finalizer(api::topic_finalizer)) continue;
    if (owner == nullptr || age(*other) < age(*owner)) owner = other;
  }
  return owner;
}

result<outcome> reconcile_topic(environment& env, const object_key& key) {
  const auto topic = env.caches.topics.find(key);
  if (topic == nullptr) return gone();
  if (topic->deleting) return finish_topic_deletion(env, *topic);
  return pass(env, *topic).run();
}

}  // namespace braidmq::reconcile

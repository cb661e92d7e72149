#include "reconcile/topic_deletion.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/deletion_wait.hpp"
#include "reconcile/poll.hpp"
#include "reconcile/scope.hpp"
#include "reconcile/topic_status.hpp"
#include "reconcile/write.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto next_try = std::chrono::seconds(5);

result<outcome> release(environment& env, const api::topic& topic, const char* reason, const std::string& note) {
  BRAID_TRY_VOID(remove_finalizer(env, api::topic_type, topic, api::topic_finalizer));
  env.events.record(reference(api::topic_type, topic), k8s::event_type::normal, reason, "DeleteTopic", note);
  return done();
}

result<bool> namespace_is_terminating(environment& env, const std::string& name) {
  const auto live = env.api.get(api::namespace_type, {"", name});
  if (live) return k8s::is_deleting(*live);
  // Not found: gone. Forbidden: we cannot know, and the cluster's own fate will tell.
  if (live.error().code == k8s::errc::not_found) return true;
  if (live.error().code == k8s::errc::forbidden) return false;
  return tl::unexpected(live.error());
}

// Why the topic stays although its Topic goes.
result<std::optional<std::string>> reason_to_keep(environment& env, const api::topic& topic) {
  using words = std::optional<std::string>;
  if (topic.is_set(api::abandon_annotation)) return words("annotation braidmq.io/abandon is set");
  if (topic.deletion_policy != api::deletion_policy::remove) return words("deletionPolicy is Retain");
  if (topic.management != api::management::managed) return words("management is not Managed");
  if (const auto owner = owner_of_name(env.caches, topic)) {
    return words(fmt::format("Topic {} owns the name", owner->key.to_string()));
  }
  BRAID_TRY(terminating, namespace_is_terminating(env, topic.key.namespace_name));
  if (terminating) return words("the namespace is being deleted");
  BRAID_TRY(gone, cluster_is_gone(env, topic.cluster_key()));
  if (gone) return words(fmt::format("BraidCluster {} is gone", topic.cluster));
  return words();
}

result<outcome> wait(environment& env, const api::topic& topic, const std::string& why) {
  topic_view view;
  view.trouble =
      problem{"DeletionWaits", fmt::format("the topic cannot be deleted now: {}. To let this Topic go without it, "
                                           "set the annotation braidmq.io/abandon",
                                           why)};
  BRAID_TRY_VOID(just_status(write_topic_status(env, topic, view)));
  return again_after(next_try);
}

// Ours is not there, or not any more: nothing is left to be done here.
result<outcome> wait_for_others(environment& env, const api::topic& topic) {
  deletion_wait waits(env, topic);
  waits.add_foreign_finalizers(api::topic_finalizer);
  if (!waits.any()) return done();
  if (!waits.lasts()) return again_after(waits.until_it_lasts());
  topic_view view;
  view.trouble = problem{"DeletionWaits", waits.words()};
  BRAID_TRY_VOID(just_status(write_topic_status(env, topic, view)));
  return done();
}

}  // namespace

result<outcome> finish_topic_deletion(environment& env, const api::topic& topic) {
  if (!topic.has_finalizer(api::topic_finalizer)) return wait_for_others(env, topic);
  BRAID_TRY(keep, reason_to_keep(env, topic));
  if (keep) return release(env, topic, "TopicKept", fmt::format("topic {} stays: {}", topic.topic_name, *keep));
  if (const auto cluster = env.caches.clusters.find(topic.cluster_key()); cluster != nullptr && cluster->paused)
    return wait(env, topic, fmt::format("BraidCluster {} is paused", topic.cluster));
  const auto pod = pod_to_ask(env, topic.cluster_key());
  if (pod == nullptr) return wait(env, topic, "no broker of the cluster runs");
  auto broker = connect_to(env, topic.cluster_key(), *pod);
  if (!broker) return wait(env, topic, broker.error().to_string());
  // Made by a pass that could not note the id: the one that is there is meant.
  const auto id = topic.topic_id.empty() ? std::nullopt : std::optional(topic.topic_id);
  const auto deleted = (*broker)->delete_topic(topic.topic_name, id);
  if (deleted) return release(env, topic, "TopicDeleted", fmt::format("topic {} and its records", topic.topic_name));
  const auto& why = deleted.error();
  if (why.code == admin_client::errc::unknown_topic_or_partition)
    return release(env, topic, "TopicDeleted", fmt::format("topic {} was gone already", topic.topic_name));
  if (why.code == admin_client::errc::unknown_topic_id) {
    return release(env, topic, "TopicKept",
                   fmt::format("topic {} is not the one that this Topic made, and stays", topic.topic_name));
  }
  return wait(env, topic, why.to_string());
}

}  // namespace braidmq::reconcile

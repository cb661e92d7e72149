#include "reconcile/topic_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reconcile/write.hpp"

namespace braidmq::reconcile {
namespace {

void set_paused(conditions& list) {
  list.unknown("Synced", "Paused", "management is Paused: nothing is read or written");
  if (api::find(list.list(), "Ready") == nullptr) list.unknown("Ready", "Paused", "management is Paused");
}

void set_conditions(const topic_view& view, conditions& list) {
  if (view.conflict != nullptr)
    list.yes("Conflict", "NameOwned",
             fmt::format("Topic {} is older and owns the name: delete one of the two", view.conflict->key.to_string()));
  else
    list.no("Conflict", "NameFree", "no other Topic manages this name");
  if (view.paused) return set_paused(list);
  if (!view.trouble) {
    list.yes("Ready", "TopicReady", "the topic is there");
    if (view.synced)
      list.yes("Synced", "Synced", "the topic is what the spec says");
    else
      list.unknown("Synced", "Observed", "management is Observe: the spec is not compared");
    list.no("Stalled", "NoProblem", "nothing is in the way");
    return;
  }
  list.no("Ready", view.trouble->reason, view.trouble->message);
  list.no("Synced", view.trouble->reason, view.trouble->message);
  if (view.transient)
    list.no("Stalled", "Waiting", "it is tried again");
  else
    list.yes("Stalled", view.trouble->reason, view.trouble->message);
}

void put_figures(const topic_view& view, json& status) {
  if (!view.there) return;
  status["topicId"] = view.there->id;
  status["metadataIndex"] = view.there->changed_index;
  status["partitions"] = view.there->partitions;
  status["replicationFactor"] = view.there->replication_factor;
  if (!view.there->configs.empty()) status["config"] = view.there->configs;
}

void tell(environment& env, const api::topic& topic, const json& status) {
  const auto list = api::read_conditions({{"status", status}});
  const auto* now = api::find(list, "Ready");
  const auto* before = api::find(topic.conditions, "Ready");
  if (now == nullptr || (before != nullptr && before->status == now->status && before->reason == now->reason)) return;
  const bool good = now->status == api::condition_status::yes;
  if (good && before == nullptr) return;  // its creation has an event of its own
  const bool warn = api::is_true(list, "Stalled");
  env.events.record(reference(api::topic_type, topic), warn ? k8s::event_type::warning : k8s::event_type::normal,
                    now->reason, "Reconcile", now->message);
}

}  // namespace

json topic_status(const api::topic& topic, const topic_view& view, std::int64_t now_s) {
  conditions list(topic.conditions, topic.generation, now_s);
  set_conditions(view, list);
  if (topic.problems.empty())
    list.drop("Warning");
  else
    list.yes("Warning", "UnreadableFields", fmt::format("{}", fmt::join(topic.problems, "; ")));
  json status = json::object();
  if (!view.there && !view.missing && topic.figures.is_object()) status = topic.figures;
  status["observedGeneration"] = topic.generation;
  status["topicName"] = topic.topic_name;
  status["conditions"] = api::to_json(list.list());
  put_figures(view, status);
  if (view.conflict != nullptr) status["conflictWith"] = view.conflict->key.to_string();
  return status;
}

result<io::duration> write_topic_status(environment& env, const api::topic& topic, const topic_view& view) {
  const auto status = topic_status(topic, view, env.now_s());
  BRAID_TRY(pause, write_status(env, api::topic_type, topic, topic.status_hash, topic.conditions, status));
  if (pause == io::duration{} && api::hash_of_document(status) != topic.status_hash) tell(env, topic, status);
  return pause;
}

}  // namespace braidmq::reconcile

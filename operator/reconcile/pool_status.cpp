#include "reconcile/pool_status.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reconcile/claims.hpp"
#include "reconcile/write.hpp"
#include "resources/compare.hpp"
#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

int wanted_replicas(const pool_view& view) {
  if (view.set == nullptr) return 0;
  const auto* count = k8s::find(view.set->body, {"spec", "replicas"});
  return count != nullptr && count->is_number_integer() ? count->get<int>() : 0;
}

int count_ready(const pool_view& view) {
  return static_cast<int>(
      std::ranges::count_if(view.pods, [](const auto& pod) { return pod->ready && !pod->deleting; }));
}

int count_updated(const pool_view& view) {
  if (view.set == nullptr) return 0;
  const auto revision = revision_of(*view.set);
  return static_cast<int>(std::ranges::count_if(view.pods, [&](const auto& pod) {
    const auto* has = api::find(pod->annotations, resources::revision_annotation);
    return !pod->deleting && has != nullptr && *has == revision;
  }));
}

void set_progress(conditions& list, const pool_view& view) {
  const auto ready = count_ready(view);
  const auto words = fmt::format("{} of {} brokers are ready", ready, wanted_replicas(view));
  const bool waiting = view.refused && view.refused->reason == "WaitingForCluster";
  const auto& why = view.refused && !waiting ? view.refused : view.trouble;
  if (is_pool_ready(view) && !view.refused) {
    list.yes("Ready", "BrokersReady", words);
    list.no("Reconciling", "Settled", "nothing is under way");
    list.no("Stalled", "NoProblem", "nothing is in the way");
  } else if (why) {
    list.no("Ready", why->reason, why->message);
    list.no("Reconciling", why->reason, "waits for what Stalled names");
    list.yes("Stalled", why->reason, why->message);
  } else {
    const auto reason = waiting ? std::string("WaitingForCluster") : std::string("Starting");
    list.no("Ready", reason, waiting ? view.refused->message : words);
    list.yes("Reconciling", reason, waiting ? view.refused->message : "brokers are starting");
    list.no("Stalled", "NoProblem", "nothing is in the way");
  }
  if (view.paused) list.no("Reconciling", "Paused", "the BraidCluster is paused: nothing is changed");
}

std::string data_size(const api::stateful_set& set) {
  const auto* claims = k8s::find(set.body, {"spec", "volumeClaimTemplates"});
  if (claims == nullptr || !claims->is_array() || claims->empty()) return {};
  const auto* size = k8s::find(claims->front(), {"spec", "resources", "requests", "storage"});
  return size != nullptr && size->is_string() ? size->get<std::string>() : std::string();
}

}  // namespace

bool is_pool_ready(const pool_view& view) {
  return view.set != nullptr && count_ready(view) >= std::max(wanted_replicas(view), 1);
}

std::string revision_of(const api::stateful_set& set) {
  const auto* annotations = k8s::find(set.body, {"spec", "template", "metadata", "annotations"});
  const auto* text = annotations == nullptr ? nullptr : k8s::find(*annotations, {resources::revision_annotation});
  return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

json pool_status(const pool_view& view, std::int64_t now_s) {
  const auto& pool = *view.pool;
  conditions list(pool.conditions, pool.generation, now_s);
  set_progress(list, view);
  if (view.held.empty())
    list.no("ChangePending", "NothingPending", "what runs is what the spec says");
  else
    list.yes("ChangePending", "NotBuiltYet", fmt::format("not changed: {}", fmt::join(view.held, "; ")));
  if (pool.problems.empty())
    list.drop("Warning");
  else
    list.yes("Warning", "UnreadableFields", fmt::format("{}", fmt::join(pool.problems, "; ")));

  json status = {
      {"observedGeneration", pool.generation},  {"conditions", api::to_json(list.list())},
      {"replicas", view.pods.size()},           {"readyReplicas", count_ready(view)},
      {"updatedReplicas", count_updated(view)}, {"selector", pool_selector_text(pool.cluster, pool.key.name)}};
  json ids = json::array();
  for (int ordinal = 0; ordinal < wanted_replicas(view); ++ordinal) ids.push_back(resources::broker_id(pool, ordinal));
  if (!ids.empty()) status["brokerIds"] = std::move(ids);
  if (view.set != nullptr) {
    if (auto size = data_size(*view.set); !size.empty()) status["storage"] = {{"requested", std::move(size)}};
  }
  return status;
}

result<io::duration> write_pool_status(environment& env, const pool_view& view) {
  const auto& pool = *view.pool;
  const auto status = pool_status(view, env.now_s());
  if (const auto* stalled = api::find(pool.conditions, "Stalled");
      view.trouble && (stalled == nullptr || stalled->reason != view.trouble->reason)) {
    env.events.record(reference(api::pool_type, pool), k8s::event_type::warning, view.trouble->reason, "StartBroker",
                      view.trouble->message);
  }
  return write_status(env, api::pool_type, pool, pool.status_hash, pool.conditions, status);
}

}  // namespace braidmq::reconcile

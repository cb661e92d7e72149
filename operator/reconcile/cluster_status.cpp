#include "reconcile/cluster_status.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reconcile/listeners.hpp"
#include "reconcile/pod_problem.hpp"
#include "reconcile/pool_status.hpp"
#include "reconcile/write.hpp"
#include "resources/broker_config.hpp"
#include "resources/compare.hpp"
#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

constexpr std::string_view nothing_in_the_way = "nothing is in the way";

struct counts {
  int wanted = 0;
  int ready = 0;

  bool all_ready() const { return wanted > 0 && ready >= wanted; }
  // Enough of those that vote for every log to go on.
  bool serves() const { return wanted > 0 && 2 * ready > wanted; }
};

int set_replicas(const pool_parts& part) {
  if (part.set == nullptr) return 0;
  const auto* count = k8s::find(part.set->body, {"spec", "replicas"});
  return count != nullptr && count->is_number_integer() ? count->get<int>() : 0;
}

counts count_brokers(const cluster_view& view) {
  counts sum;
  for (const auto& part : view.pools) {
    sum.wanted += part.set == nullptr ? 0 : set_replicas(part);
    sum.ready += static_cast<int>(
        std::ranges::count_if(part.pods, [](const auto& pod) { return pod->ready && !pod->deleting; }));
  }
  // A voter whose pool is not there is missed like any other.
  if (sum.wanted > 0 && view.who) sum.wanted = std::max(sum.wanted, static_cast<int>(view.who->voters.size()));
  return sum;
}

const api::pod* pod_of(const cluster_view& view, const std::string& name) {
  for (const auto& part : view.pools) {
    for (const auto& pod : part.pods) {
      if (pod->key.name == name) return pod.get();
    }
  }
  return nullptr;
}

// Why a broker is not ready: what it answers, else the last line that says why it does not run.
std::string own_words(const environment& env, const cluster_view& view, const api::pod& pod) {
  if (const auto told = view.state->unready.find(pod.key.name); told != view.state->unready.end()) return told->second;
  constexpr std::size_t most_words = 300;
  const auto trouble = pod_problem(pod, env.now_s());
  if (!trouble) return {};
  return api::shorten(trouble->message.substr(trouble->message.rfind('\n') + 1), most_words);
}

// Voters that are not ready, each with its own words where it has any.
std::vector<std::string> missing_brokers(const environment& env, const cluster_view& view) {
  std::vector<std::string> missing;
  if (!view.who) return missing;
  for (const auto& voter : view.who->voters) {
    const auto* pod = pod_of(view, voter.pod);
    if (pod != nullptr && pod->ready && !pod->deleting) continue;
    const auto why = pod == nullptr ? std::string() : own_words(env, view, *pod);
    missing.push_back(fmt::format("broker {} ({}{}{})", voter.id, voter.pod, why.empty() ? "" : ": ", why));
  }
  return missing;
}

std::string readiness_words(const environment& env, const cluster_view& view, const counts& brokers) {
  auto words = fmt::format("{} of {} brokers are ready", brokers.ready, brokers.wanted);
  const auto missing = missing_brokers(env, view);
  if (brokers.wanted > 1 && !missing.empty()) words += fmt::format("; missing: {}", fmt::join(missing, "; "));
  return words;
}

// What a pool that runs brokers complains of.
std::optional<problem> pool_complaint(const cluster_view& view) {
  for (const auto& part : view.pools) {
    const auto* stalled = api::find(part.pool->conditions, "Stalled");
    if (stalled == nullptr || stalled->status != api::condition_status::yes) continue;
    const bool beside =
        part.set == nullptr && std::ranges::any_of(view.pools, [](const auto& p) { return p.set != nullptr; });
    if (!beside)
      return problem{stalled->reason, fmt::format("BraidPool {}: {}", part.pool->key.name, stalled->message)};
  }
  return std::nullopt;
}

// Before the broker has been asked often enough, what was so before the operator started goes on being so.
bool may_keep(const environment& env, const cluster_view& view) {
  const auto& state = *view.state;
  return !state.answered && (state.failures == 0 ||
                             (state.failures < 3 && env.clock.now() - state.failing_since < std::chrono::seconds(60)));
}

void set_ready(const environment& env, const cluster_view& view, conditions& list) {
  const auto brokers = count_brokers(view);
  const auto words = readiness_words(env, view, brokers);
  const auto& state = *view.state;
  if (!brokers.serves()) {
    list.no("Ready", "BrokersNotReady", words);
  } else if (state.reachable(env.clock.now())) {
    const auto expected = view.who ? view.who->cluster_id : view.cluster->cluster_id;
    if (state.info.cluster_id.empty())
      list.no("Ready", "NotFounded", "the broker runs and has not founded the cluster yet");
    else if (expected.empty() || state.info.cluster_id == expected)
      list.yes("Ready", brokers.all_ready() ? "BrokersReady" : "MajorityReady", words);
    else
      list.no("Ready", "OtherCluster",
              fmt::format("the broker's volume belongs to cluster {}: give the BraidPool the volume of this cluster",
                          state.info.cluster_id));
  } else if (may_keep(env, view)) {
    if (!api::is_true(view.cluster->conditions, "Ready"))
      list.unknown("Ready", "NotAskedYet", "the broker has not answered yet");
  } else {
    list.no("Ready", "BrokerUnreachable", fmt::format("the broker's admin port does not answer: {}", state.last_error));
  }
}

void set_degraded(const environment& env, const cluster_view& view, conditions& list) {
  const auto brokers = count_brokers(view);
  if (brokers.wanted == 0)
    list.unknown("Degraded", "NoBrokers", "no broker runs yet");
  else if (brokers.all_ready())
    list.no("Degraded", "AllBrokersReady", "no broker is missing");
  else
    list.yes("Degraded", "BrokersMissing", readiness_words(env, view, brokers));
}

void set_healthy(const environment& env, const cluster_view& view, conditions& list) {
  const auto& state = *view.state;
  if (count_brokers(view).ready == 0 && state.failures > 0) {
    list.unknown("Healthy", "BrokerUnreachable", "no broker is ready to be asked");
    return;
  }
  if (!state.reachable(env.clock.now())) {
    if (may_keep(env, view) && api::is_true(view.cluster->conditions, "Healthy")) return;
    list.unknown("Healthy", "BrokerUnreachable", "no broker answers");
    return;
  }
  const auto leaderless = std::ranges::count_if(state.info.braids, [](const auto& braid) { return braid.leader < 0; });
  if (leaderless > 0 || state.info.controller_id < 0)
    list.no("Healthy", "NoLeader", "a log of the cluster has no leader: writes wait");
  else if (!count_brokers(view).all_ready())
    list.no("Healthy", "CopiesMissing", "every log has its leader, and not every copy is kept up");
  else
    list.yes("Healthy", "AllInSync", "every log has its leader and its copies");
}

std::vector<std::string> outdated_pods(const cluster_view& view) {
  std::vector<std::string> names;
  for (const auto& part : view.pools) {
    if (part.set == nullptr) continue;
    const auto revision = revision_of(*part.set);
    for (const auto& pod : part.pods) {
      const auto* has = api::find(pod->annotations, resources::revision_annotation);
      if (!pod->deleting && (has == nullptr || *has != revision)) names.push_back(pod->key.name);
    }
  }
  return names;
}

void set_config(const cluster_view& view, conditions& list) {
  if (view.config_wrong) {
    list.no("ConfigApplied", "InvalidConfig", *view.config_wrong);
    return;
  }
  if (count_brokers(view).wanted == 0) {
    list.unknown("ConfigApplied", "NoBrokers", "no broker runs yet");
    return;
  }
  const auto outdated = outdated_pods(view);
  if (outdated.empty()) {
    list.yes("ConfigApplied", "Applied", "every broker was started with what the spec says");
    return;
  }
  list.no(
      "ConfigApplied", "RestartNeeded",
      fmt::format("started before the last change: {0}. {1}: kubectl -n {2} delete pod {3}", fmt::join(outdated, " "),
                  count_brokers(view).wanted > 1 ? "Restart one at a time, each when RollSafe is True"
                                                 : "Restart when clients may wait",
                  view.cluster->key.namespace_name, outdated.front()));
}

void set_pending(const cluster_view& view, conditions& list) {
  std::vector<std::string> pending;
  const auto voters = view.who ? std::ssize(view.who->voters) : 0;
  if (const auto wanted = view.cluster->braid_replicas; wanted && voters > 0 && *wanted != voters)
    pending.push_back(
        fmt::format("spec.braidReplicas from {0} to {1}: votes of a cluster that is made cannot be added or "
                    "taken away yet; set it back to {0}",
                    voters, *wanted));
  for (const auto& part : view.pools) {
    const auto* change = api::find(part.pool->conditions, "ChangePending");
    if (change != nullptr && change->status == api::condition_status::yes)
      pending.push_back(fmt::format("BraidPool {}: {}", part.pool->key.name, change->message));
    const bool beside = part.set == nullptr && part.pool->replicas > 0 && count_brokers(view).wanted > 0;
    if (beside)
      pending.push_back(fmt::format("BraidPool {}: its brokers would carry no braid, which is not built yet; delete it",
                                    part.pool->key.name));
  }
  if (pending.empty())
    list.no("ChangePending", "NothingPending", "what runs is what the spec says");
  else
    list.yes("ChangePending", "NotBuiltYet", fmt::format("{}", fmt::join(pending, "; ")));
}

void set_progress(const cluster_view& view, conditions& list) {
  const bool ready = api::is_true(list.list(), "Ready");
  auto why = view.refused;
  if (!why && view.config_wrong && count_brokers(view).wanted == 0) why = problem{"InvalidConfig", *view.config_wrong};
  const bool degraded = api::is_true(list.list(), "Degraded");
  if (!why && (!ready || degraded)) why = pool_complaint(view);
  if (why) {
    if (!ready || view.refused) list.no("Ready", why->reason, why->message);
    list.yes("Stalled", why->reason, why->message);
    list.no("Reconciling", why->reason, "waits for what Stalled names");
  } else {
    list.no("Stalled", "NoProblem", nothing_in_the_way);
    if (ready && degraded)
      list.yes("Reconciling", "BrokersMissing", "waits for the brokers that Degraded names");
    else if (ready)
      list.no("Reconciling", "Settled", "nothing is under way");
    else
      list.yes("Reconciling", "Starting", "brokers are starting");
  }
  if (view.cluster->paused) list.no("Reconciling", "Paused", "spec.paused is set: nothing is changed");
}

void set_rest(const environment& env, const cluster_view& view, conditions& list) {
  const auto brokers = count_brokers(view);
  if (brokers.wanted <= 1)
    list.no("RollSafe", "OnlyBroker", "the cluster has one broker: while it restarts, clients wait");
  else if (!brokers.all_ready() || !api::is_true(list.list(), "Healthy"))
    list.no("RollSafe", "BrokersMissing", "a broker more that stops may stop the cluster: wait until all are ready");
  else
    list.yes("RollSafe", "OneMayStop", "one broker may stop: the others go on");
  const auto& problems = view.cluster->problems;
  if (env.crds_outdated)
    list.yes("Warning", "CRDsOutdated",
             "the kinds of BraidMQ on this server are older than the operator and drop fields: "
             "upgrade them (helm upgrade with crds.install=true, or the crds of the release)");
  else if (problems.empty())
    list.drop("Warning");
  else
    list.yes("Warning", "UnreadableFields", fmt::format("{}", fmt::join(problems, "; ")));
}

std::string_view state_of(const api::pod& pod) {
  if (pod.deleting) return "Terminating";
  if (!pod.scheduled) return "Pending";
  if (pod.ready) return "Running";
  if (!pod.broker.waiting_reason.empty() && pod.broker.waiting_reason != "ContainerCreating") return "Failed";
  return "Starting";
}

int ordinal_of(const api::pod& pod) {
  const auto dash = pod.key.name.rfind('-');
  int value = 0;
  const auto* first = pod.key.name.data() + (dash == std::string::npos ? 0 : dash + 1);
  const auto* last = pod.key.name.data() + pod.key.name.size();
  return std::from_chars(first, last, value).ec == std::errc{} ? value : 0;
}

// An operator that has just started has not asked yet.
void keep_last_known(const cluster_view& view, const api::pod& pod, json& entry) {
  const auto* list = k8s::find(view.cluster->status, {"brokers"});
  if (list == nullptr || !list->is_array()) return;
  for (const auto& last : *list) {
    const auto* uid = k8s::find(last, {"podUID"});
    if (uid == nullptr || *uid != pod.uid) continue;
    for (const char* name : {"incarnation", "version"}) {
      if (last.contains(name)) entry[name] = last.at(name);
    }
  }
}

json broker_entry(const cluster_view& view, const pool_parts& part, const api::pod& pod) {
  const auto id = resources::broker_id(*part.pool, ordinal_of(pod));
  json entry = {{"id", id},           {"pod", pod.key.name},   {"podUID", pod.uid}, {"pool", part.pool->key.name},
                {"ready", pod.ready}, {"state", state_of(pod)}};
  if (!pod.node.empty()) entry["node"] = pod.node;
  if (!view.state->answered) {
    keep_last_known(view, pod, entry);
    return entry;
  }
  const auto& info = view.state->info;
  const auto known = std::ranges::find(info.brokers, id, &admin_client::broker_info::id);
  if (known != info.brokers.end() && !known->incarnation.empty()) entry["incarnation"] = known->incarnation;
  if (info.broker_id == id && !info.version.empty()) entry["version"] = info.version;
  return entry;
}

json brokers_of(const cluster_view& view) {
  json list = json::array();
  for (const auto& part : view.pools) {
    for (const auto& pod : part.pods) list.push_back(broker_entry(view, part, *pod));
  }
  return list;
}

std::string image_of(const cluster_view& view) {
  for (const auto& part : view.pools) {
    if (part.set == nullptr) continue;
    const auto* list = k8s::find(part.set->body, {"spec", "template", "spec", "containers"});
    if (list == nullptr || !list->is_array() || list->empty()) continue;
    const auto* image = k8s::find(list->front(), {"image"});
    if (image != nullptr && image->is_string()) return image->get<std::string>();
  }
  return {};
}

json listeners_of(const environment& env, const cluster_view& view) {
  json list = json::array();
  for (const auto& listener : view.cluster->listeners) {
    const bool internal = listener.kind == api::listener_kind::internal;
    json entry = {{"name", listener.name}, {"type", internal ? "internal" : "nodeport"}};
    auto address =
        internal ? internal_bootstrap(env, *view.cluster, listener) : node_bootstrap(env, *view.cluster, listener);
    if (!address.empty()) entry["bootstrap"] = std::move(address);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

json cluster_status(const environment& env, const cluster_view& view) {
  const auto& cluster = *view.cluster;
  conditions list(cluster.conditions, cluster.generation, env.now_s());
  set_ready(env, view, list);
  set_degraded(env, view, list);
  set_healthy(env, view, list);
  set_config(view, list);
  set_pending(view, list);
  set_progress(view, list);
  set_rest(env, view, list);

  const auto brokers = count_brokers(view);
  json status = {{"observedGeneration", cluster.generation},
                 {"conditions", api::to_json(list.list())},
                 {"brokersReady", fmt::format("{}/{}", brokers.ready, brokers.wanted)},
                 {"listeners", listeners_of(env, view)}};
  // Once founded, always: what is known is not taken back while a broker cannot be asked.
  if (view.who && view.who->existing)
    status["clusterId"] = view.who->cluster_id;
  else if (!cluster.cluster_id.empty())
    status["clusterId"] = cluster.cluster_id;
  if (view.who && view.who->voters.size() > 1)
    status["voters"] = resources::voters_text(view.who->voters);
  else if (const auto* known = k8s::find(cluster.status, {"voters"}); known != nullptr)
    status["voters"] = *known;
  if (view.state->answered && !view.state->info.version.empty())
    status["version"] = view.state->info.version;
  else if (const auto* known = k8s::find(cluster.status, {"version"}); known != nullptr)
    status["version"] = *known;
  if (auto image = image_of(view); !image.empty()) status["image"] = std::move(image);
  if (auto entries = brokers_of(view); !entries.empty()) status["brokers"] = std::move(entries);
  return status;
}

bool is_settled(const json& status) {
  const auto list = api::read_conditions({{"status", status}});
  return api::is_true(list, "Ready") && api::is_false(list, "Reconciling");
}

}  // namespace braidmq::reconcile

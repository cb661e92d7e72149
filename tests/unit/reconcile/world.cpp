#include "world.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "k8s/list_page.hpp"
#include "reconcile/cluster.hpp"
#include "reconcile/poll.hpp"
#include "reconcile/pool.hpp"
#include "reconcile/topic.hpp"
#include "resources/names.hpp"

namespace braidmq::reconcile::testing {
namespace {

const std::vector<const k8s::resource_type*>& all_types() {
  static const std::vector<const k8s::resource_type*> types = {
      &api::cluster_type, &api::pool_type,        &api::topic_type,  &api::stateful_set_type,
      &api::service_type, &api::config_map_type,  &api::secret_type, &api::network_policy_type,
      &api::budget_type,  &api::pod_monitor_type, &api::claim_type};
  return types;
}

template <class Row, class Decode>
void load(const k8s::testing::fake_client& from, const k8s::resource_type& type, k8s::cache<Row>& cache, Decode decode,
          bool owned) {
  std::map<object_key, std::shared_ptr<const Row>> rows;
  for (const auto& object : from.read_all(type)) {
    const auto* label = k8s::find(object, {"metadata", "labels", "app.kubernetes.io/managed-by"});
    if (owned && (label == nullptr || *label != resources::managed_by)) continue;
    rows.emplace(k8s::key_of(object), std::make_shared<const Row>(decode(object)));
  }
  cache.replace(std::move(rows));
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  if (what.empty()) return;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// What another run of the same may have otherwise: times, versions, and hashes over the random cluster id.
void strip(json& value) {
  if (!value.is_structured()) return;  // a scalar iterates over itself
  if (value.is_object()) {
    for (const char* name : {"lastTransitionTime", "resourceVersion", "uid", "podUID", "creationTimestamp",
                             "generation", "observedGeneration", "managedFields", "braidmq.io/applied",
                             "braidmq.io/pod-revision", "braidmq.io/config-hash", "metadataIndex"})
      value.erase(name);
  }
  for (auto& child : value) strip(child);
}

}  // namespace

class world::counting_client final : public k8s::client {
 public:
  counting_client(k8s::testing::fake_client& inner, kill_switch& counter) : inner_(inner), counter_(counter) {}

  template <class Call>
  auto counted(Call call) {
    counter_.before_write();
    auto answer = call();
    counter_.after_write();
    return answer;
  }

  result<json> get(const k8s::resource_type& type, const object_key& key) override { return inner_.get(type, key); }
  result<k8s::list_page> list(const k8s::resource_type& type, const k8s::list_options& options) override {
    return inner_.list(type, options);
  }
  result<json> create(const k8s::resource_type& type, const json& object, const std::string& manager) override {
    return counted([&] { return inner_.create(type, object, manager); });
  }
  result<json> apply(const k8s::resource_type& type, const json& object, const k8s::apply_options& options) override {
    return counted([&] { return inner_.apply(type, object, options); });
  }
  result<json> json_patch(const k8s::resource_type& type, const object_key& key, const json& operations,
                          const std::string& subresource) override {
    return counted([&] { return inner_.json_patch(type, key, operations, subresource); });
  }
  status remove(const k8s::resource_type& type, const object_key& key, const k8s::delete_options& options) override {
    return counted([&] { return inner_.remove(type, key, options); });
  }
  result<k8s::watch_end> watch(const k8s::resource_type&, const k8s::watch_options&, const std::atomic<bool>&,
                               const watch_handler&) override {
    return fail(k8s::errc::canceled, "no watches here");
  }

 private:
  k8s::testing::fake_client& inner_;
  kill_switch& counter_;
};

class world::recorder final : public k8s::event_recorder {
 public:
  explicit recorder(std::vector<told_event>& events) : events_(events) {}
  void record(const k8s::object_reference& regarding, k8s::event_type type, const std::string& reason,
              const std::string&, const std::string& note) override {
    events_.push_back({regarding.kind + "/" + regarding.key.name, type, reason, note});
  }

 private:
  std::vector<told_event>& events_;
};

world::world() {
  client_ = std::make_unique<counting_client>(api, switch_);
  recorder_ = std::make_unique<recorder>(events);
  api.put(api::namespace_type, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_name}}}});
  broker.on_write = [this](const char*) { switch_.before_write(); };
  broker.after_write = [this] { switch_.after_write(); };
  restart_operator();
}

world::~world() = default;

void world::restart_operator() {
  env_.reset();
  caches_ = std::make_unique<filled_caches>();
  env_.reset(new environment{
      .api = *client_,
      .caches = caches_->view(),
      .clock = clock,
      .events = *recorder_,
      .random = random_,
      .connect = [this](const std::string& address, auto) -> result<std::unique_ptr<admin_client::client>> {
        const auto pod = pod_at(address);
        if (!brokers.knows(pod)) return connect_to_fake(broker);
        return connect_to_fake(broker, brokers.member(pod));
      },
      .settings = {.default_image = "braidmq:default"}});
  sync();
}

void world::apply(const k8s::resource_type& type, const std::string& text) {
  auto object = json::parse(text);
  object["apiVersion"] = type.api_version();
  object["kind"] = type.kind;
  object["metadata"]["namespace"] = namespace_name;
  if (const auto there = api.read(type, k8s::key_of(object))) {
    auto next = *there;
    next["spec"] = object["spec"];
    object = std::move(next);
  }
  api.put(type, std::move(object));
}

void world::change(const k8s::resource_type& type, const std::string& name, const std::function<void(json&)>& edit) {
  auto object = read(type, name).value();
  edit(object);
  api.put(type, std::move(object));
}

void world::erase(const k8s::resource_type& type, const std::string& name) {
  ASSERT_TRUE(api.remove(type, {namespace_name, name}, {}));
}

void world::plain_cluster() {
  apply(api::cluster_type, R"({"metadata": {"name": "prod"}, "spec": {}})");
  apply(api::pool_type,
        R"({"metadata": {"name": "prod-a"}, "spec": {"clusterRef": {"name": "prod"}, "storage": {"size": "10Gi"}}})");
}

void world::sync() {
  load(api, api::cluster_type, caches_->clusters, api::read_cluster, false);
  load(api, api::pool_type, caches_->pools, api::read_pool, false);
  load(api, api::topic_type, caches_->topics, api::read_topic, false);
  load(api, api::stateful_set_type, caches_->stateful_sets, api::read_stateful_set, true);
  load(api, api::service_type, caches_->services, api::read_owned, true);
  load(api, api::config_map_type, caches_->config_maps, api::read_owned, true);
  load(api, api::budget_type, caches_->budgets, api::read_owned, true);
  load(api, api::network_policy_type, caches_->network_policies, api::read_owned, true);
  load(api, api::pod_type, caches_->pods, api::read_pod, true);
}

result<outcome> world::reconcile(const k8s::resource_type& type, const std::string& name) {
  sync();
  return reconcile_synced(type, name);
}

result<outcome> world::reconcile_synced(const k8s::resource_type& type, const std::string& name) {
  const object_key key{namespace_name, name};
  if (type.kind == "BraidCluster") return reconcile_cluster(*env_, key);
  if (type.kind == "BraidPool") return reconcile_pool(*env_, key);
  return reconcile_topic(*env_, key);
}

void world::round() {
  run_controllers();
  sync();
  auto seen = switch_.writes;
  const auto sync_after_writes = [&] {
    if (seen != switch_.writes) sync();
    seen = switch_.writes;
  };
  for (const auto* type : {&api::cluster_type, &api::pool_type, &api::topic_type}) {
    for (const auto& object : api.read_all(*type)) {
      // Conflicts and broken connections are tried again in the next round, as the queue would.
      static_cast<void>(reconcile_synced(*type, std::string(k8s::name_of(object))));
      sync_after_writes();
    }
  }
  for (const auto& cluster : caches_->clusters.all()) static_cast<void>(poll_broker(*env_, cluster->key));
  if (api.read_all(api::cluster_type).empty() || api.read_all(api::pool_type).empty()) api.collect_garbage();
  clock.advance(std::chrono::seconds(1));
}

void world::settle(int max_rounds) {
  int quiet = 0;
  std::size_t seen = 0;
  for (int i = 0; i < max_rounds && quiet < 2; ++i) {
    const auto before = switch_.writes;
    seen = api.writes().size();
    round();
    quiet = switch_.writes == before ? quiet + 1 : 0;
  }
  if (quiet >= 2) return;
  std::string last;
  const auto writes = api.writes();
  for (; seen < writes.size(); ++seen)
    last += fmt::format("{} {} {}\n", writes[seen].verb, writes[seen].plural, writes[seen].body.dump());
  ADD_FAILURE() << "does not come to rest; the last round wrote:\n" << last;
}

// --- what a real Kubernetes does ------------------------------------------------------------------------------------

void world::run_controllers() {
  for (auto service : api.read_all(api::service_type)) {
    if (service["spec"].value("type", "") != "NodePort" || service["spec"]["ports"][0].contains("nodePort")) continue;
    service["spec"]["ports"][0]["nodePort"] =
        30000 + static_cast<int>(std::hash<std::string>{}(service["metadata"]["name"]) % 1000);
    api.put(api::service_type, service);
  }
  for (const auto& set : api.read_all(api::stateful_set_type)) run_set(set);
  for (const auto& pod : api.read_all(api::pod_type)) {
    const auto owner = pod["metadata"]["ownerReferences"][0]["uid"];
    const auto sets = api.read_all(api::stateful_set_type);
    if (std::ranges::any_of(sets, [&](const auto& set) { return set["metadata"]["uid"] == owner; }))
      run_pod(pod);
    else
      api.erase(api::pod_type, k8s::key_of(pod));
  }
  for (const auto& name : brokers.running()) {
    if (!read(api::pod_type, name)) brokers.stop(name);
  }
  brokers.exchange();
  for (const auto& name : brokers.running()) run_pod(read(api::pod_type, name).value());
}

std::size_t world::place_of(const std::string& pod) {
  const auto found = std::ranges::find(places_, pod);
  if (found != places_.end()) return static_cast<std::size_t>(found - places_.begin());
  places_.push_back(pod);
  return places_.size() - 1;
}

std::string world::pod_at(const std::string& address) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (address == fmt::format("10.0.0.{}", 5 + i)) return places_[i];
  }
  return {};
}

void world::lose_volume(const std::string& pod) {
  brokers.stop(pod);
  api.erase(api::pod_type, {namespace_name, pod});
  api.erase(api::claim_type, {namespace_name, "data-" + pod});
}

void world::run_set(const json& set) {
  const auto name = set["metadata"]["name"].get<std::string>();
  for (int ordinal = 0; ordinal < set["spec"]["replicas"].get<int>(); ++ordinal) {
    const auto pod_name = fmt::format("{}-{}", name, ordinal);
    json volumes = set["spec"]["template"]["spec"]["volumes"];
    for (auto claim : set["spec"]["volumeClaimTemplates"]) {
      const auto volume = claim["metadata"]["name"].get<std::string>();
      const auto claim_name = fmt::format("{}-{}", volume, pod_name);
      volumes.push_back({{"name", volume}, {"persistentVolumeClaim", {{"claimName", claim_name}}}});
      if (read(api::claim_type, claim_name)) continue;
      claim["metadata"]["name"] = claim_name;
      claim["metadata"]["namespace"] = namespace_name;
      claim["status"]["phase"] = "Bound";
      api.put(api::claim_type, claim);
    }
    if (read(api::pod_type, pod_name)) continue;
    json pod = set["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = pod_name;
    pod["metadata"]["namespace"] = namespace_name;
    pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = pod_name;
    pod["metadata"]["ownerReferences"] =
        json::array({{{"kind", "StatefulSet"}, {"name", name}, {"uid", set["metadata"]["uid"]}, {"controller", true}}});
    pod["spec"]["volumes"] = std::move(volumes);
    api.put(api::pod_type, pod);
  }
  const auto* observed = k8s::find(set, {"status", "observedGeneration"});
  if (observed != nullptr && *observed == set["metadata"]["generation"]) return;
  auto next = set;
  next["status"]["observedGeneration"] = set["metadata"]["generation"];
  api.put(api::stateful_set_type, next);
}

void world::run_pod(json pod) {
  const json before = pod;
  auto& status = pod["status"];
  auto& conditions = status["conditions"];
  if (!schedule) {
    const bool is_new = !conditions.is_array() || conditions[0]["status"] != "False";
    const json since = is_new ? json(api::format_time(clock.wall_ms() / 1000)) : conditions[0].at("lastTransitionTime");
    conditions = json::array({{{"type", "PodScheduled"},
                               {"status", "False"},
                               {"reason", "Unschedulable"},
                               {"lastTransitionTime", since},
                               {"message", unscheduled}}});
    status["phase"] = "Pending";
  } else {
    json container = {{"name", "broker"}, {"restartCount", 0}};
    const auto name = pod["metadata"]["name"].get<std::string>();
    const auto place = place_of(name);
    status["podIP"] = fmt::format("10.0.0.{}", 5 + place);
    status["hostIP"] = fmt::format("192.168.1.{}", 9 + place);
    pod["spec"]["nodeName"] = fmt::format("node-{}", 1 + place);
    start_broker(pod, container);
    const bool running = container["state"].contains("running");
    const bool ready = running && pods_ready && (!brokers.runs(name) || brokers.is_ready(name));
    conditions = json::array(
        {{{"type", "PodScheduled"}, {"status", "True"}}, {{"type", "Ready"}, {"status", ready ? "True" : "False"}}});
    status["phase"] = running ? "Running" : "Pending";
    status["containerStatuses"] = json::array({std::move(container)});
  }
  if (pod != before) api.put(api::pod_type, pod);
}

void world::start_broker(const json& pod, json& container) {
  const auto waiting = [&container](const std::string& reason, const std::string& message) {
    container["state"]["waiting"] = {{"reason", reason}, {"message", message}};
  };
  const auto crashed = [&](const std::string& words) {
    waiting("CrashLoopBackOff", "back-off restarting failed container");
    container["restartCount"] = 3;
    container["lastState"]["terminated"] = {{"exitCode", 1}, {"reason", "Error"}, {"message", words}};
  };
  const auto image = pod["spec"]["containers"][0]["image"].get<std::string>();
  if (!bad_image.empty() && image == bad_image) return waiting("ImagePullBackOff", "Back-off pulling image");
  if (!crash_message.empty()) return crashed(crash_message);
  const auto name = pod["metadata"]["name"].get<std::string>();
  if (kept_away.contains(name)) {
    brokers.stop(name);
    return waiting("ContainerCreating", "its node is not there");
  }
  const auto cluster = pod["metadata"]["labels"]["braidmq.io/cluster"].get<std::string>();
  const auto map = read(api::config_map_type, cluster + "-config");
  const auto secret = read(api::secret_type, cluster + "-secret");
  if (!map || !secret) return waiting("ContainerCreating", "a volume is not there yet");
  const auto yaml = (*map)["data"]["broker.yaml"].get<std::string>();
  const auto value = [&yaml](const std::string& key) {
    const auto at = yaml.find(key + ": \"") + key.size() + 3;
    return yaml.substr(at, yaml.find('"', at) - at);
  };
  if (pod["spec"]["containers"][0]["args"].dump().find("controller.quorum.voters=") != std::string::npos) {
    if (!brokers.is_running(name, std::string(k8s::uid_of(pod))))
      start_voter(pod, value("cluster.id"), value("braid.bootstrap") != "existing");
    container["state"]["running"] = json::object();
    return;
  }
  if (data_of_.empty() && value("braid.bootstrap") == "existing")
    return crashed("empty folder under bootstrap: existing");
  if (data_of_.empty()) data_of_ = value("cluster.id");
  if (data_of_ != value("cluster.id")) return crashed("the data folder belongs to another cluster");
  broker.cluster_id = data_of_;
  container["state"]["running"] = json::object();
}

// Reads its arguments as the broker would.
void world::start_voter(const json& pod, const std::string& cluster_id, bool may_found) {
  const auto name = pod["metadata"]["name"].get<std::string>();
  broker_start with{.pod = name,
                    .pod_uid = std::string(k8s::uid_of(pod)),
                    .claim_uid = std::string(k8s::uid_of(read(api::claim_type, "data-" + name).value())),
                    .id = 0,
                    .voters = {},
                    .cluster_id = cluster_id,
                    .may_found = may_found};
  constexpr std::string_view offset = "braid.broker.id.offset=";
  constexpr std::string_view quorum = "controller.quorum.voters=";
  std::istringstream voters;
  for (const auto& argument : pod["spec"]["containers"][0]["args"]) {
    const auto text = argument.get<std::string>();
    if (text.starts_with(offset))
      with.id = std::stoi(text.substr(offset.size())) + std::stoi(name.substr(name.rfind('-') + 1));
    if (text.starts_with(quorum)) voters.str(text.substr(quorum.size()));
  }
  for (std::string one; std::getline(voters, one, ',');) with.voters.push_back(std::stoi(one));
  brokers.start(with);
}

// --- what is to be seen ---------------------------------------------------------------------------------------------

std::optional<json> world::read(const k8s::resource_type& type, const std::string& name) const {
  return api.read(type, {namespace_name, name});
}

json world::condition(const k8s::resource_type& type, const std::string& name,
                      const std::string& condition_type) const {
  const auto object = read(type, name);
  if (!object || !object->contains("status")) return json::object();
  for (const auto& one : (*object)["status"].value("conditions", json::array())) {
    if (one["type"] == condition_type) return one;
  }
  return json::object();
}

std::string world::state(const k8s::resource_type& type, const std::string& name,
                         const std::string& condition_type) const {
  return condition(type, name, condition_type).value("status", "absent");
}
std::string world::reason(const k8s::resource_type& type, const std::string& name,
                          const std::string& condition_type) const {
  return condition(type, name, condition_type).value("reason", "absent");
}
std::string world::message(const k8s::resource_type& type, const std::string& name,
                           const std::string& condition_type) const {
  return condition(type, name, condition_type).value("message", "");
}

bool world::told(const std::string& event_reason) const {
  return std::ranges::find(events, event_reason, &told_event::reason) != events.end();
}

json world::end_state() const {
  json all = json::object();
  for (const auto* type : all_types()) {
    for (const auto& object : api.read_all(*type)) all[type->plural][k8s::key_of(object).to_string()] = object;
  }
  for (const auto& [name, topic] : broker.topics) {
    all["broker"][name] = {{"partitions", topic.partitions}, {"configs", topic.configs}, {"topicId", topic.id}};
  }
  for (const auto& one : broker.listeners) all["listeners"][one.name] = fmt::format("{}:{}", one.host, one.port);
  for (const auto& [id, listeners] : broker.member_listeners) {
    for (const auto& one : listeners)
      all["listeners"][fmt::format("{} {}", id, one.name)] = fmt::format("{}:{}", one.host, one.port);
  }
  strip(all);
  for (auto& secret : all["secrets"]) secret.erase("data");
  auto text = all.dump();
  replace_all(text, data_of_, "<cluster id>");
  for (const auto& one : brokers.founded()) replace_all(text, one.cluster_id.to_string(), "<cluster id>");
  for (const auto& [name, topic] : broker.topics) replace_all(text, topic.id, "<id of " + name + ">");
  return json::parse(text);
}

}  // namespace braidmq::reconcile::testing

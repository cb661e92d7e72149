#include "operator_app/unit.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "reconcile/cluster.hpp"
#include "reconcile/poll.hpp"
#include "reconcile/pool.hpp"
#include "reconcile/scope.hpp"
#include "reconcile/topic.hpp"
#include "resources/names.hpp"

namespace braidmq::operator_app {
namespace {

using k8s::object_key;

constexpr auto resync = std::chrono::minutes(10);

k8s::reflector_options watch_of(const k8s::resource_type& type, const std::string& namespace_name, bool owned) {
  k8s::reflector_options options;
  options.type = type;
  options.namespace_name = namespace_name;
  if (owned) options.label_selector = resources::managed_by_selector;
  return options;
}

// Within 20 % of the resync time, so that a thousand Topics do not come at once.
io::duration next_resync() {
  const auto share = static_cast<double>(io::system_random().next_u64() % 1000) / 1000.0;
  return std::chrono::duration_cast<io::duration>(std::chrono::duration<double>(resync) * (0.8 + 0.4 * share));
}

k8s::reconcile_result to_result(failure_log& log, const char* kind, const object_key& key,
                                const result<reconcile::outcome>& of) {
  log.note(kind, key, of ? std::string() : of.error().to_string());
  if (!of) return k8s::reconcile_result::failed(of.error());
  if (of->gone) return k8s::reconcile_result::done();
  return k8s::reconcile_result::requeue_after(of->again_after.value_or(next_resync()));
}

std::string label(const api::text_map& labels, std::string_view name) {
  const auto* value = api::find(labels, name);
  return value == nullptr ? std::string() : *value;
}

void end_process(const std::string& why) {
  spdlog::critical("{}", why);
  spdlog::shutdown();
  _exit(70);
}

template <class Ptr>
const auto& either(const Ptr& before, const Ptr& after) {
  return after != nullptr ? *after : *before;
}

}  // namespace

struct unit::watches {
  watches(k8s::client& api, const std::string& in)
      : clusters(api, watch_of(api::cluster_type, in, false), api::read_cluster),
        pools(api, watch_of(api::pool_type, in, false), api::read_pool),
        topics(api, watch_of(api::topic_type, in, false), api::read_topic),
        stateful_sets(api, watch_of(api::stateful_set_type, in, true), api::read_stateful_set),
        services(api, watch_of(api::service_type, in, true), api::read_owned),
        config_maps(api, watch_of(api::config_map_type, in, true), api::read_owned),
        budgets(api, watch_of(api::budget_type, in, true), api::read_owned),
        network_policies(api, watch_of(api::network_policy_type, in, true), api::read_owned),
        pods(api, watch_of(api::pod_type, in, true), api::read_pod),
        rows{clusters.rows(),    pools.rows(),   topics.rows(),           stateful_sets.rows(), services.rows(),
             config_maps.rows(), budgets.rows(), network_policies.rows(), pods.rows()} {}

  std::vector<k8s::informer_base*> all() {
    return {&clusters, &pools, &topics, &stateful_sets, &services, &config_maps, &budgets, &network_policies, &pods};
  }

  k8s::informer<api::braid_cluster> clusters;
  k8s::informer<api::braid_pool> pools;
  k8s::informer<api::topic> topics;
  k8s::informer<api::stateful_set> stateful_sets;
  k8s::informer<api::owned_object> services;
  k8s::informer<api::owned_object> config_maps;
  k8s::informer<api::owned_object> budgets;
  k8s::informer<api::owned_object> network_policies;
  k8s::informer<api::pod> pods;
  reconcile::caches rows;
};

unit::unit(k8s::client& api, k8s::event_recorder& events, const options& given, std::string namespace_name,
           std::function<bool()> may_write)
    : namespace_(std::move(namespace_name)), watches_(std::make_unique<watches>(api, namespace_)) {
  const auto connect = [](const std::string& host, std::function<result<std::string>()> secret) {
    const auto bracketed = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return admin_client::connect(
        {.url = fmt::format("http://{}:{}", bracketed, resources::admin_port), .secret = std::move(secret)});
  };
  env_.reset(new reconcile::environment{
      .api = api,
      .caches = watches_->rows,
      .clock = io::system_clock(),
      .events = events,
      .random = io::system_random(),
      .connect = connect,
      .settings = {.default_image = given.broker_image, .cluster_domain = given.cluster_domain},
      .may_write = std::move(may_write)});
  make_controllers();
  route_events();
}

unit::~unit() {
  stop();
}

void unit::make_controllers() {
  const auto make = [](const char* name, int workers, auto work) {
    k8s::controller_options options{.name = name, .workers = workers, .on_fatal = end_process};
    return std::make_unique<k8s::controller>(std::move(options), std::move(work));
  };
  // One worker for clusters and one for pools: what concerns a whole cluster is decided in turn.
  clusters_ = make("BraidCluster", 1, [this](const object_key& key) {
    return to_result(failures_, "BraidCluster", key, reconcile_cluster(*env_, key));
  });
  pools_ = make("BraidPool", 1, [this](const object_key& key) {
    return to_result(failures_, "BraidPool", key, reconcile_pool(*env_, key));
  });
  topics_ = make("Topic", 2, [this](const object_key& key) {
    return to_result(failures_, "Topic", key, reconcile_topic(*env_, key));
  });
  polls_ = make("poll", 1, [this](const object_key& key) { return poll(key); });
}

k8s::reconcile_result unit::poll(const object_key& cluster) {
  const auto found = reconcile::poll_broker(*env_, cluster);
  if (found.cluster_changed) {
    clusters_->queue().add(cluster);
    for (const auto& pool : reconcile::pools_of(watches_->rows, cluster)) pools_->queue().add(pool->key);
  }
  for (const auto& topic : found.topics) topics_->queue().add(topic);
  return found.again_after ? k8s::reconcile_result::requeue_after(*found.again_after) : k8s::reconcile_result::done();
}

void unit::route_events() {
  // A cluster and its pools look at each other's rows.
  const auto add_cluster = [this](const object_key& cluster) {
    if (cluster.name.empty()) return;
    clusters_->queue().add(cluster);
    for (const auto& pool : reconcile::pools_of(watches_->rows, cluster)) pools_->queue().add(pool->key);
  };
  watches_->clusters.on_change([this, add_cluster](const auto& before, const auto& after) {
    const auto& row = either(before, after);
    add_cluster(row.key);
    polls_->queue().add(row.key);
    // Topics care whether their cluster is there, and may be worked on.
    if (before != nullptr && after != nullptr && before->deleting == after->deleting && before->paused == after->paused)
      return;
    for (const auto& topic : reconcile::topics_of(watches_->rows, row.key)) topics_->queue().add(topic->key);
  });
  watches_->pools.on_change([this, add_cluster](const auto& before, const auto& after) {
    const auto& row = either(before, after);
    pools_->queue().add(row.key);
    add_cluster(row.cluster_key());
  });
  watches_->topics.on_change([this](const auto& before, const auto& after) {
    topics_->queue().add(either(before, after).key);
    // A name that is given up concerns those that wait for it.
    for (const auto& row : {before, after}) {
      if (row == nullptr) continue;
      for (const auto& other : reconcile::namesakes(watches_->rows, *row)) topics_->queue().add(other->key);
    }
  });
  const auto owned = [this, add_cluster](const auto& before, const auto& after) {
    const auto& row = either(before, after);
    const object_key cluster{row.key.namespace_name, label(row.labels, resources::cluster_label)};
    const object_key pool{row.key.namespace_name, label(row.labels, resources::pool_label)};
    add_cluster(cluster);
    if (!pool.name.empty()) pools_->queue().add(pool);
    if (!cluster.name.empty()) polls_->queue().add(cluster);
  };
  watches_->stateful_sets.on_change(owned);
  watches_->services.on_change(owned);
  watches_->config_maps.on_change(owned);
  watches_->budgets.on_change(owned);
  watches_->network_policies.on_change(owned);
  watches_->pods.on_change([this, owned](const auto& before, const auto& after) {
    owned(before, after);
    // A broker that has just become ready: Topics that waited for it need not wait for their next try.
    if (after == nullptr || !after->ready || (before != nullptr && before->ready)) return;
    const object_key cluster{after->key.namespace_name, label(after->labels, resources::cluster_label)};
    for (const auto& topic : reconcile::topics_of(watches_->rows, cluster)) {
      if (!api::is_true(topic->conditions, "Ready")) topics_->queue().add(topic->key);
    }
  });
}

void unit::start_watching() {
  for (auto* informer : watches_->all()) informer->start();
}

void unit::start_working() {
  for (auto* controller : {clusters_.get(), pools_.get(), topics_.get(), polls_.get()}) controller->start();
  working_ = true;
}

void unit::begin_stop() {
  for (auto* controller : {polls_.get(), topics_.get(), pools_.get(), clusters_.get()}) controller->queue().shut_down();
  for (auto* informer : watches_->all()) informer->begin_stop();
}

void unit::stop() {
  begin_stop();
  if (working_) {
    for (auto* controller : {polls_.get(), topics_.get(), pools_.get(), clusters_.get()}) controller->stop();
  }
  working_ = false;
  for (auto* informer : watches_->all()) informer->stop();
}

std::vector<std::string> unit::not_synced() const {
  std::vector<std::string> missing;
  for (auto* informer : watches_->all()) {
    if (informer->has_synced()) continue;
    const auto figures = informer->read_figures();
    missing.push_back(fmt::format("{}{} not listed yet{}{}", informer->plural(),
                                  namespace_.empty() ? std::string() : " of namespace " + namespace_,
                                  figures.last_error.empty() ? "" : ": ", figures.last_error));
  }
  return missing;
}

std::vector<std::string> unit::stuck() const {
  std::vector<std::string> all;
  for (auto* informer : watches_->all()) {
    if (auto words = informer->stuck()) all.push_back(std::move(*words));
  }
  for (const auto& [name, controller] : controllers()) {
    if (auto words = controller->stuck()) all.push_back(std::move(*words));
  }
  return all;
}

void unit::set_crds_outdated(bool outdated) {
  if (env_->crds_outdated.exchange(outdated) == outdated) return;
  for (const auto& cluster : watches_->rows.clusters.all()) clusters_->queue().add(cluster->key);
}

std::vector<const k8s::informer_base*> unit::informers() const {
  const auto all = watches_->all();
  return {all.begin(), all.end()};
}

std::vector<std::pair<std::string, const k8s::controller*>> unit::controllers() const {
  return {
      {"BraidCluster", clusters_.get()}, {"BraidPool", pools_.get()}, {"Topic", topics_.get()}, {"poll", polls_.get()}};
}

const reconcile::caches& unit::rows() const {
  return watches_->rows;
}

}  // namespace braidmq::operator_app

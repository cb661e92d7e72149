#include "operator_app/metrics.hpp"

#include <map>
#include <sstream>

#include <nlohmann/json.hpp>
#include <prometheus/text_serializer.h>

#include "admin/metrics.hpp"

namespace braidmq::operator_app {
namespace {

using admin::add_value;
using families = std::vector<prometheus::MetricFamily>;

double seconds(io::duration of) {
  return std::chrono::duration<double>(of).count();
}

void add_controllers(const metric_sources& from, families& all) {
  auto results = admin::counter_family("operator_reconcile_total", "Reconciles by kind and how they ended.");
  auto duration = admin::histogram_family("operator_reconcile_duration_seconds", "Time of a reconcile.");
  auto oldest = admin::gauge_family("operator_reconcile_oldest_in_flight_seconds",
                                    "For how long the oldest one has been running.");
  auto success =
      admin::gauge_family("operator_reconcile_last_success_timestamp_seconds", "When one of the kind last succeeded.");
  auto depth = admin::gauge_family("operator_workqueue_depth", "Objects that wait for a worker.");
  auto delayed = admin::gauge_family("operator_workqueue_delayed", "Objects that will be looked at again later.");
  auto adds = admin::counter_family("operator_workqueue_adds_total", "Objects that were put into the queue.");
  auto retries =
      admin::counter_family("operator_workqueue_retries_total", "Objects that were put back after a failure.");
  auto waited =
      admin::counter_family("operator_workqueue_wait_seconds_total", "Time that objects waited for a worker.");
  for (const auto* unit : from.units) {
    for (const auto& [kind, controller] : unit->controllers()) {
      const auto figures = controller->read_figures();
      const admin::metric_labels labels = {{"namespace", unit->namespace_name()}, {"kind", kind}};
      for (const auto& [word, count] : figures.results) {
        auto with_result = labels;
        with_result.emplace_back("result", word);
        add_value(results, static_cast<double>(count), with_result);
      }
      admin::add_histogram(duration, figures.duration_us, 1e-6, 7, 24, labels);
      add_value(oldest, seconds(figures.oldest_in_flight.value_or(io::duration{})), labels);
      add_value(success, static_cast<double>(figures.last_success_unix_ms) / 1000, labels);
      add_value(depth, static_cast<double>(figures.queue.depth), labels);
      add_value(delayed, static_cast<double>(figures.queue.delayed), labels);
      add_value(adds, static_cast<double>(figures.queue.adds), labels);
      add_value(retries, static_cast<double>(figures.queue.retries), labels);
      add_value(waited, seconds(figures.queue.waited), labels);
    }
  }
  for (auto* family : {&results, &duration, &oldest, &success, &depth, &delayed, &adds, &retries, &waited})
    all.push_back(std::move(*family));
}

void add_watches(const metric_sources& from, families& all) {
  auto restarts = admin::counter_family("operator_watch_restarts_total",
                                        "Watches that were begun again, by why the one before ended.");
  auto last = admin::gauge_family("operator_watch_last_event_timestamp_seconds", "When a watch last heard anything.");
  auto synced = admin::gauge_family("operator_watch_synced", "1 when the kind has been listed.");
  for (const auto* unit : from.units) {
    for (const auto* informer : unit->informers()) {
      const auto figures = informer->read_figures();
      const admin::metric_labels labels = {{"namespace", unit->namespace_name()}, {"kind", informer->plural()}};
      for (const auto& [reason, count] : figures.watch_restarts) {
        auto with_reason = labels;
        with_reason.emplace_back("reason", reason);
        add_value(restarts, static_cast<double>(count), with_reason);
      }
      add_value(last, static_cast<double>(figures.last_event_unix_ms) / 1000, labels);
      add_value(synced, figures.synced ? 1 : 0, labels);
    }
  }
  for (auto* family : {&restarts, &last, &synced}) all.push_back(std::move(*family));
}

void add_requests(const metric_sources& from, families& all) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> sum;
  for (const auto* client : from.clients) {
    for (const auto& [key, count] : client->read_figures().requests) sum[key] += count;
  }
  auto requests =
      admin::counter_family("operator_api_requests_total", "Requests to the API server by verb and HTTP code.");
  for (const auto& [key, count] : sum)
    add_value(requests, static_cast<double>(count), {{"verb", key.first}, {"code", key.second}});
  all.push_back(std::move(requests));
}

std::string state_of(const api::condition_list& conditions) {
  const auto* ready = api::find(conditions, "Ready");
  if (ready == nullptr || ready->status == api::condition_status::unknown) return "unknown";
  return ready->status == api::condition_status::yes ? "ready" : "not_ready";
}

void add_objects(const metric_sources& from, families& all) {
  auto clusters = admin::gauge_family("operator_cluster_ready", "1 when the BraidCluster is Ready.");
  auto stalled = admin::gauge_family("operator_cluster_stalled", "1 when the BraidCluster waits for a person.");
  auto topics = admin::gauge_family("operator_topics", "Topics by state.");
  auto pools = admin::gauge_family("operator_pools", "BraidPools by state.");
  for (const auto* unit : from.units) {
    std::map<std::pair<std::string, std::string>, int> topic_counts;
    std::map<std::pair<std::string, std::string>, int> pool_counts;
    for (const auto& row : unit->rows().topics.all())
      ++topic_counts[{row->key.namespace_name, state_of(row->conditions)}];
    for (const auto& row : unit->rows().pools.all())
      ++pool_counts[{row->key.namespace_name, state_of(row->conditions)}];
    for (const auto& [key, count] : topic_counts)
      add_value(topics, count, {{"namespace", key.first}, {"state", key.second}});
    for (const auto& [key, count] : pool_counts)
      add_value(pools, count, {{"namespace", key.first}, {"state", key.second}});
    for (const auto& row : unit->rows().clusters.all()) {
      const admin::metric_labels labels = {{"namespace", row->key.namespace_name}, {"cluster", row->key.name}};
      add_value(clusters, api::is_true(row->conditions, "Ready") ? 1 : 0, labels);
      add_value(stalled, api::is_true(row->conditions, "Stalled") ? 1 : 0, labels);
    }
  }
  for (auto* family : {&clusters, &stalled, &topics, &pools}) all.push_back(std::move(*family));
}

void add_process(const metric_sources& from, families& all) {
  auto leader = admin::gauge_family("operator_leader", "1 when this process leads.");
  add_value(leader, from.leading ? 1 : 0);
  auto lost = admin::counter_family("operator_lease_lost_total", "Leases lost.");
  add_value(lost, static_cast<double>(from.leases_lost));
  auto events = admin::counter_family("operator_events_total", "Events for kubectl describe, by what became of them.");
  if (from.events != nullptr) {
    const auto figures = from.events->read_figures();
    add_value(events, static_cast<double>(figures.written), {{"result", "written"}});
    add_value(events, static_cast<double>(figures.dropped), {{"result", "dropped"}});
    add_value(events, static_cast<double>(figures.failed), {{"result", "failed"}});
  }
  auto build = admin::gauge_family("operator_build_info", "Version of the operator.");
  add_value(build, 1, {{"version", BRAID_VERSION}});
  for (auto* family : {&leader, &lost, &events, &build}) all.push_back(std::move(*family));
}

}  // namespace

std::string render_metrics(const metric_sources& from) {
  families all;
  add_process(from, all);
  add_controllers(from, all);
  add_watches(from, all);
  add_requests(from, all);
  add_objects(from, all);
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, all);
  return out.str();
}

}  // namespace braidmq::operator_app

#include "app/broker_metrics.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

#include "admin/metrics.hpp"
#include "protocol/api_table.hpp"

namespace braidmq::app {
namespace {

using admin::add_value;
using admin::counter_family;
using admin::gauge_family;

constexpr auto copy_deadline = std::chrono::seconds(2);
std::atomic<std::uint64_t> scrape_timeouts{0};

// Runs `copy` on `owner` and waits for its value; none when the thread is too busy, or has gone.
template <class Copy>
auto copied(io::executor& owner, Copy copy) {
  using value = decltype(copy());
  auto promise = std::make_shared<std::promise<value>>();
  auto future = promise->get_future();
  owner.post([promise, copy = std::move(copy)]() mutable { promise->set_value(copy()); });
  promise.reset();
  std::optional<value> got;
  if (future.wait_for(copy_deadline) == std::future_status::ready) {
    try {
      got = future.get();
    } catch (const std::future_error&) {
      got.reset();  // the task was dropped: the thread has stopped
    }
  }
  if (!got) ++scrape_timeouts;
  return got;
}

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

}  // namespace

std::vector<prometheus::MetricFamily> broker_metrics::collect() {
  if (process_.serving_) {
    add_apis();
    add_memory();
    add_connections();
    add_fetch_sessions();
    add_atomic_writes();
    add_shards();
    add_braid();
    add_peers();
    add_wal();
    add_checkpoints();
    add_disk_space();
    add_metadata();
  }
  auto& timeouts = families_.emplace_back(
      counter_family("scrape_timeouts_total", "Copies of counters that their thread did not deliver in time"));
  add_value(timeouts, number(scrape_timeouts));
  return std::move(families_);
}

void broker_metrics::add_apis() {
  auto requests = counter_family("requests_total", "Requests by API");
  auto failures = counter_family("request_failures_total", "Connections closed by a request, by API");
  auto bytes_in = counter_family("request_bytes_total", "Bytes of requests by API");
  auto bytes_out = counter_family("response_bytes_total", "Bytes of responses by API");
  auto refused = counter_family("refused_frames_total", "Frames with an unknown API, version or header");
  auto latency = admin::histogram_family("request_seconds", "From frame to answer, by API");
  const auto apis = server::api_list();
  std::vector<server::api_counters> sums(apis.size());
  std::uint64_t refused_sum = 0;
  for (std::size_t i = 0; i < process_.shards_.size(); ++i) {
    server::dispatcher* dispatcher = process_.parts_[i].dispatcher.get();
    const auto copy = copied(process_.shards_.at(i),
                             [dispatcher] { return std::pair(dispatcher->counters(), dispatcher->refused_frames()); });
    if (!copy) continue;
    refused_sum += copy->second;
    for (std::size_t a = 0; a < sums.size(); ++a) {
      sums[a].requests += copy->first[a].requests;
      sums[a].failures += copy->first[a].failures;
      sums[a].bytes_in += copy->first[a].bytes_in;
      sums[a].bytes_out += copy->first[a].bytes_out;
      sums[a].latency_us.merge(copy->first[a].latency_us);
    }
  }
  for (std::size_t a = 0; a < sums.size(); ++a) {
    const admin::metric_labels labels{{"api", std::string(protocol::find_api(apis[a].key)->name)}};
    add_value(requests, number(sums[a].requests), labels);
    add_value(failures, number(sums[a].failures), labels);
    add_value(bytes_in, number(sums[a].bytes_in), labels);
    add_value(bytes_out, number(sums[a].bytes_out), labels);
    admin::add_histogram(latency, sums[a].latency_us, 1e-6, 4, 26, labels);
  }
  add_value(refused, number(refused_sum));
  for (auto* family : {&requests, &failures, &bytes_in, &bytes_out, &refused, &latency}) {
    families_.push_back(std::move(*family));
  }
}

void broker_metrics::add_memory() {
  auto used = gauge_family("memory_used_bytes", "Bytes that are held, by what holds them");
  auto limit = gauge_family("memory_limit_bytes", "Most that may be held; requests beyond it wait unread");
  auto waiting = gauge_family("memory_waiting_connections", "Connections whose next request waits for memory");
  const auto add = [&](const char* name, const memory_budget& budget) {
    add_value(used, number(budget.used_bytes()), {{"of", name}});
    add_value(limit, number(budget.limit_bytes()), {{"of", name}});
  };
  add("requests", *process_.requests_);
  add("answers", *process_.answers_);
  add_value(waiting, number(process_.requests_->waiting()));
  for (auto* family : {&used, &limit, &waiting}) families_.push_back(std::move(*family));
}

void broker_metrics::add_connections() {
  auto open = gauge_family("connections", "Open connections by listener");
  auto held = gauge_family("connection_bytes", "Bytes held for requests and answers under way, by listener");
  auto ended = counter_family("connections_ended_total", "Ended connections by listener and cause");
  auto accepted = counter_family("connections_accepted_total", "Accepted connections by listener");
  for (std::size_t l = 0; l < process_.listeners_.size(); ++l) {
    const std::string& name = process_.config_.listeners[l].name;
    std::size_t bytes = 0;
    net::close_counters causes;
    for (std::size_t i = 0; i < process_.shards_.size(); ++i) {
      net::connection_set* set = process_.parts_[i].connections[l].get();
      const auto copy =
          copied(process_.shards_.at(i), [set] { return std::pair(set->inflight_bytes(), set->ended()); });
      if (!copy) continue;
      bytes += copy->first;
      for (std::size_t c = 0; c < net::close_cause_count; ++c) causes.by_cause[c] += copy->second.by_cause[c];
    }
    add_value(open, number(process_.limiters_[l]->connections()), {{"listener", name}});
    add_value(held, number(bytes), {{"listener", name}});
    add_value(accepted, number(process_.listeners_[l]->counters().accepted), {{"listener", name}});
    for (std::size_t c = 0; c < net::close_cause_count; ++c) {
      add_value(ended, number(causes.by_cause[c]),
                {{"listener", name}, {"cause", std::string(net::to_string(static_cast<net::close_cause>(c)))}});
    }
  }
  for (auto* family : {&open, &held, &accepted, &ended}) families_.push_back(std::move(*family));
}

void broker_metrics::add_fetch_sessions() {
  server::fetch_session_stats sum;
  for (std::size_t i = 0; i < process_.shards_.size(); ++i) {
    server::dispatcher* dispatcher = process_.parts_[i].dispatcher.get();
    const auto copy = copied(process_.shards_.at(i), [dispatcher] { return dispatcher->session_statistics(); });
    if (!copy) continue;
    sum.sessions += copy->sessions;
    sum.partitions += copy->partitions;
    sum.bytes += copy->bytes;
    sum.evicted += copy->evicted;
    sum.refused += copy->refused;
  }
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    add_value(families_.emplace_back(gauge_family(name, help)), number(value));
  };
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    add_value(families_.emplace_back(counter_family(name, help)), number(value));
  };
  gauge("fetch_sessions", "Incremental fetch sessions", sum.sessions);
  gauge("fetch_session_partitions", "Partitions of all incremental fetch sessions", sum.partitions);
  gauge("fetch_session_bytes", "Memory of all incremental fetch sessions, about", sum.bytes);
  counter("fetch_session_evictions_total", "Incremental fetch sessions that went for want of room", sum.evicted);
  counter("fetch_session_refusals_total", "Consumers that got no session for want of room", sum.refused);
}

void broker_metrics::add_atomic_writes() {
  auto& refusals = families_.emplace_back(
      counter_family("atomic_write_refusals_total",
                     "Atomic writes of which nothing was written because of one of their slices, by reason"));
  for (std::size_t i = 0; i < server::refusal_reason_count; ++i) {
    const auto reason = static_cast<server::refusal_reason>(i);
    add_value(refusals, number(process_.broker_->refused_atomic_writes().count(reason)),
              {{"reason", std::string(server::to_string(reason))}});
  }
}

void broker_metrics::add_shards() {
  auto tasks = counter_family("shard_tasks_total", "Tasks that an event loop ran");
  auto lag = gauge_family("shard_lag_seconds", "How late an event loop came to its latest timer");
  for (std::size_t i = 0; i < process_.shards_.size(); ++i) {
    const runtime::shard_counters counters = process_.shards_.at(i).counters();
    add_value(tasks, number(counters.tasks), {{"shard", std::to_string(i)}});
    add_value(lag, number(counters.lag_last_us) * 1e-6, {{"shard", std::to_string(i)}});
  }
  families_.push_back(std::move(tasks));
  families_.push_back(std::move(lag));
}

void broker_metrics::add_braid() {
  const auto stats = copied(process_.shards_.at(0), [this] { return process_.broker_->braid().statistics(); });
  if (!stats) return;
  const admin::metric_labels labels{{"braid", "0"}};
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    add_value(families_.emplace_back(gauge_family(name, help)), number(value), labels);
  };
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    add_value(families_.emplace_back(counter_family(name, help)), number(value), labels);
  };
  gauge("braid_serves", "1 while this replica leads and serves", stats->serves ? 1 : 0);
  gauge("braid_term", "Raft term", stats->term.value());
  gauge("braid_commit_index", "Last committed entry", stats->commit_index.value());
  gauge("braid_applied_index", "Last applied entry", stats->applied_index.value());
  gauge("braid_visible_index", "Last entry whose effects readers see", stats->visible_index.value());
  gauge("braid_partitions", "Partitions of the braid", stats->partitions);
  gauge("braid_queued_bytes", "Requests that wait for an entry", stats->queued_bytes);
  gauge("braid_write_behind_bytes", "Applied bytes that are not in segment files yet", stats->write_behind_bytes);
  gauge("braid_write_behind_max_bytes", "Where apply, and with it writes, begin to wait for segment files",
        process_.bounds_.write_behind_max_bytes);
  gauge("braid_parked_produces", "Produce requests that wait for their entry", stats->parked_produces);
  gauge("braid_parked_fetches", "Fetch requests that wait for bytes", stats->parked_fetches);
  counter("braid_entries_applied_total", "Entries applied since start, recovery included", stats->entries_applied);
  counter("braid_requests_applied_total", "Produce requests applied since start", stats->units_applied);
  counter("braid_log_starts_moved_total", "Log starts that this replica proposed to move", stats->log_starts_moved);
  gauge("braid_apply_level", "Level of the rules by which entries are applied",
        static_cast<std::uint64_t>(stats->apply_level));
  gauge("braid_producers", "Idempotent producers that are remembered, counted in each partition", stats->producers);
  counter("braid_producers_expired_total",
          "Producers forgotten after producer.id.expiration.ms since start, recovery included",
          stats->producers_expired);
  counter("braid_producers_evicted_total", "Producers forgotten because a partition had too many",
          stats->producers_evicted);
  counter("braid_bytes_appended_total", "Bytes of record batches appended", stats->bytes_appended);
  auto& slices = families_.emplace_back(counter_family("braid_slices_total", "Slices of produce requests by outcome"));
  add_value(slices, number(stats->slices_appended), {{"braid", "0"}, {"outcome", "appended"}});
  add_value(slices, number(stats->slices_duplicate), {{"braid", "0"}, {"outcome", "duplicate"}});
  add_value(slices, number(stats->slices_refused), {{"braid", "0"}, {"outcome", "refused"}});
}

// Of brokers that have others: how far those are, and what goes over the connections to them.
void broker_metrics::add_peers() {
  if (process_.cluster_->is_alone()) return;
  auto leads = gauge_family("braid_leader_broker", "Id of the broker that is known to lead the braid; -1: none");
  auto lag = gauge_family("braid_replication_lag_entries",
                          "Entries that another replica does not have durably yet, as the leader knows");
  auto snapshot =
      gauge_family("braid_replica_needs_snapshot",
                   "1 while a replica lacks entries that the log does not hold any more, as the leader knows");
  auto reachable = gauge_family("peer_reachable", "1 while both connections to another broker stand, by plane");
  auto sent = counter_family("peer_messages_sent_total", "Messages to other brokers, by plane");
  auto dropped =
      counter_family("peer_messages_dropped_total", "Messages for which there was no connection or no room, by plane");
  auto received = counter_family("peer_messages_received_total", "Messages of other brokers, by plane");
  auto refused =
      counter_family("peer_frames_refused_total", "Frames of other brokers that could not be read, by plane");
  const std::string braid = "0";
  add_value(leads, process_.broker_->braid().office().leader.broker, {{"braid", braid}});
  const auto stats = copied(process_.shards_.at(0), [this] { return process_.broker_->braid().statistics(); });
  for (const braid::peer_stats& one : stats ? stats->peers : std::vector<braid::peer_stats>()) {
    const admin::metric_labels labels{{"braid", braid}, {"broker", std::to_string(one.voter.broker)}};
    const std::uint64_t has = std::min(one.match.value(), stats->commit_index.value());
    add_value(lag, number(stats->commit_index.value() - has), labels);
    add_value(snapshot, one.needs_snapshot ? 1 : 0, labels);
  }
  struct seen {
    peer::mesh_stats counts;
    std::vector<std::pair<std::int32_t, bool>> reachable;
  };
  const auto look = [this](const char* plane, runtime::shard& on, peer::mesh& mesh, auto add) {
    const auto copy = copied(on, [this, &mesh] {
      seen now{mesh.statistics(), {}};
      for (const raft::node_id& voter : process_.cluster_->voters()) {
        if (voter.broker == process_.cluster_->id().value()) continue;
        now.reachable.emplace_back(voter.broker, mesh.status_of(model::broker_id(voter.broker)).reachable);
      }
      return now;
    });
    if (copy) add(plane, *copy);
  };
  const auto add = [&](const char* plane, const seen& of) {
    const admin::metric_labels labels{{"plane", plane}};
    add_value(sent, number(of.counts.messages_sent), labels);
    add_value(dropped, number(of.counts.messages_dropped), labels);
    add_value(received, number(of.counts.messages_received), labels);
    add_value(refused, number(of.counts.frames_refused), labels);
    for (const auto& [broker, is_there] : of.reachable) {
      add_value(reachable, is_there ? 1 : 0, {{"plane", plane}, {"broker", std::to_string(broker)}});
    }
  };
  look("braid", process_.shards_.at(0), process_.cluster_->braid_mesh(), add);
  look("metadata", process_.metadata_shard_, process_.cluster_->metadata_mesh(), add);
  for (auto* family : {&leads, &lag, &snapshot, &reachable, &sent, &dropped, &received, &refused}) {
    families_.push_back(std::move(*family));
  }
}

void broker_metrics::add_wal() {
  auto groups = counter_family("wal_writes_total", "Group writes by log");
  auto bytes = counter_family("wal_written_bytes_total", "Bytes written by log");
  auto syncs = counter_family("wal_syncs_total", "fdatasync calls by log");
  auto last = gauge_family("wal_last_sync_seconds", "Duration of the latest fdatasync by log");
  auto files = gauge_family("wal_files", "Files by log");
  auto size = gauge_family("wal_bytes", "Entries kept on disk by log");
  auto spares = gauge_family("wal_spare_files", "Files that wait to be used by log");
  auto failures = counter_family("wal_spare_failures_total", "Files that could not be made ahead of their use by log");
  auto marks = counter_family("wal_marks_total", "Marks, written when nothing else is, by log");
  const auto add = [&](const char* name, io::executor& owner, auto read) {
    const auto stats = copied(owner, read);
    if (!stats) return;
    const admin::metric_labels labels{{"log", name}};
    add_value(groups, number(stats->groups_written), labels);
    add_value(bytes, number(stats->bytes_written), labels);
    add_value(syncs, number(stats->syncs), labels);
    add_value(last, number(stats->last_sync_nanos) * 1e-9, labels);
    add_value(files, number(stats->file_count), labels);
    add_value(size, number(stats->file_bytes), labels);
    add_value(spares, number(stats->spare_files), labels);
    add_value(failures, number(stats->spare_failures), labels);
    add_value(marks, number(stats->marks), labels);
  };
  add("braid", process_.shards_.at(0), [this] { return process_.broker_->wal().statistics(); });
  add("metadata", process_.metadata_shard_, [this] { return process_.broker_->metadata_wal().statistics(); });
  for (auto* family : {&groups, &bytes, &syncs, &last, &files, &size, &spares, &failures, &marks}) {
    families_.push_back(std::move(*family));
  }
}

void broker_metrics::add_checkpoints() {
  auto taken = counter_family("checkpoints_total", "Checkpoints that became durable by log");
  auto failed = counter_family("checkpoint_failures_total", "Checkpoints given up for want of space by log");
  auto index = gauge_family("checkpoint_index", "Entry at which the last checkpoint stands by log");
  auto size = gauge_family("checkpoint_file_bytes", "Size of the last checkpoint by log");
  auto took = gauge_family("checkpoint_last_seconds", "How long the last checkpoint took, pauses included, by log");
  auto pending = gauge_family("checkpoint_pending_bytes", "Entries applied after the last checkpoint by log");
  const auto add = [&](const char* name, const std::optional<multiraft::checkpoint_stats>& stats) {
    if (!stats) return;
    const admin::metric_labels labels{{"log", name}};
    add_value(taken, number(stats->taken), labels);
    add_value(failed, number(stats->failed), labels);
    add_value(index, number(stats->last_index.value()), labels);
    add_value(size, number(stats->last_bytes), labels);
    add_value(took, std::chrono::duration<double>(stats->last_took).count(), labels);
    add_value(pending, number(stats->bytes_since), labels);
  };
  add("braid", copied(process_.shards_.at(0), [this] { return process_.broker_->braid().statistics().checkpoints; }));
  add("metadata", copied(process_.metadata_shard_, [this] { return process_.broker_->controller().checkpoints(); }));
  for (auto* family : {&taken, &failed, &index, &size, &took, &pending}) families_.push_back(std::move(*family));
}

void broker_metrics::add_disk_space() {
  const auto stats = copied(process_.shards_.at(0), [this] { return process_.broker_->disk_space(); });
  if (!stats) return;
  auto free = gauge_family("disk_free_bytes", "Free space of the volume by folder");
  auto reserve = gauge_family("disk_reserve_bytes", "Free space below which writes are refused by folder");
  for (const server::watched_volume& one : stats->volumes) {
    if (!one.known) continue;
    add_value(free, number(one.free_bytes), {{"folder", one.folder}});
    add_value(reserve, number(one.reserve_bytes), {{"folder", one.folder}});
  }
  families_.push_back(std::move(free));
  families_.push_back(std::move(reserve));
  add_value(families_.emplace_back(gauge_family("disk_full", "1 while writes are refused for want of space")),
            stats->is_full ? 1 : 0);
}

void broker_metrics::add_metadata() {
  const metadata::image_ptr image = process_.broker_->image();
  std::int64_t partitions = 0;
  for (const auto& [name, topic] : image->topics()) partitions += topic->partitions;
  add_value(families_.emplace_back(gauge_family("metadata_index", "Entry of the metadata log that is applied")),
            number(image->index()));
  add_value(families_.emplace_back(gauge_family("topics", "Topics")), number(image->topics().size()));
  add_value(families_.emplace_back(gauge_family("partitions", "Partitions of all topics")),
            static_cast<double>(partitions));
}

}  // namespace braidmq::app

#include "app/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <utility>

#include <asio/io_context.hpp>
#include <spdlog/spdlog.h>

#include "admin/secret_file.hpp"
#include "app/broker_api.hpp"
#include "app/broker_metrics.hpp"
#include "app/descriptors.hpp"
#include "net/tcp_connect.hpp"
#include "runtime/resources.hpp"

namespace braidmq::app {
namespace {

constexpr unsigned metadata_shard_index = 1000;  // in thread names, apart from the data shards
constexpr auto hand_over_deadline = std::chrono::seconds(4);
constexpr auto drain_deadline = std::chrono::seconds(5);
constexpr auto stop_deadline = std::chrono::seconds(10);
// Nothing that a loop does takes a second; a machine that swaps or is paused may.
constexpr auto stuck_after = std::chrono::seconds(30);

// A disk that failed: nothing may be acknowledged any more, and a clean end would only try to write again.
[[noreturn]] void end_at_once(const error& why) {
  spdlog::critical("{}; the broker ends, and what it has acknowledged is on disk", why.to_string());
  spdlog::default_logger()->flush();
  std::_Exit(EXIT_FAILURE);
}

// With write-behind at its bound all stays below 256 MiB; what readers do not find here, the page cache has.
constexpr std::size_t tail_cache_bytes = std::size_t{64} << 20U;
constexpr std::size_t requests_bytes = std::size_t{256} << 20U;
constexpr std::size_t answers_bytes = std::size_t{512} << 20U;

server::broker_options options_of(const config::broker_config& config, const runtime::resources& available,
                                  const memory_bounds& bounds) {
  server::broker_options options;
  options.id = model::broker_id(static_cast<std::int32_t>(config.broker_id));
  options.data_dir = config.data_dir;
  options.wal_dir = config.wal_dir;
  options.pushed = config.pushed_listeners;
  if (!config.rack.empty()) options.rack = config.rack;
  options.rack_aware_reads = config.replica_selector != "leader";
  options.heartbeat = std::chrono::milliseconds(config.heartbeat_ms);
  options.election_timeout = std::chrono::milliseconds(config.election_timeout_ms);
  options.wal_file_bytes = static_cast<std::uint64_t>(config.wal_file_bytes);
  options.log.segments.ms = config.log_roll_ms;
  options.retention_ms = config.log_retention_ms;
  options.retention_bytes = config.log_retention_bytes;
  options.retention_interval = std::chrono::milliseconds(config.log_retention_check_interval_ms);
  options.producer_expiration = std::chrono::milliseconds(config.producer_id_expiration_ms);
  options.producer_expiry_interval = std::chrono::milliseconds(config.producer_id_expiration_check_interval_ms);
  options.log.segments.bytes = static_cast<std::uint64_t>(config.log_segment_bytes);
  options.log.index_interval_bytes = static_cast<std::uint32_t>(config.log_index_interval_bytes);
  options.aggregator.entry_max_bytes = bounds.entry_max_bytes;
  // One for all: the logs of a braid live on one executor.
  options.log.cache =
      std::make_shared<storage::cache_budget>(storage::cache_budget{.max_bytes = bounds.tail_cache_max_bytes});
  options.max_partitions = most_partitions(available);
  options.aggregator.queue_max_bytes = bounds.queue_max_bytes;
  options.write_behind_max_bytes = bounds.write_behind_max_bytes;
  options.disk_reserve_bytes = static_cast<std::uint64_t>(config.disk_reserve_bytes);
  options.checkpoint_bytes = static_cast<std::uint64_t>(config.checkpoint_bytes);
  options.checkpoint_interval = std::chrono::milliseconds(config.checkpoint_interval_ms);
  options.linger = std::chrono::milliseconds(config.linger_ms);
  options.default_partitions = static_cast<std::int32_t>(config.num_partitions);
  options.auto_create_topics = config.auto_create_topics;
  options.max_message_bytes = static_cast<std::int32_t>(config.message_max_bytes);
  options.timestamp_before_max_ms = config.log_message_timestamp_before_max_ms;
  options.timestamp_after_max_ms = config.log_message_timestamp_after_max_ms;
  options.log_append_time = config.log_message_timestamp_type == "LogAppendTime";
  options.atomic_produce = config.atomic_produce;
  options.fetch_max_bytes = static_cast<std::size_t>(config.fetch_max_bytes);
  options.fetch_sessions.max_sessions = static_cast<std::size_t>(config.fetch_session_slots);
  options.fetch_sessions.max_bytes = bounds.fetch_sessions_max_bytes;
  return options;
}

memory_bounds bounds_of(const config::broker_config& config, const runtime::resources& available) {
  memory_bounds wanted;
  wanted.queue_max_bytes = braid::aggregator_options{}.queue_max_bytes;
  wanted.write_behind_max_bytes = static_cast<std::size_t>(config.write_behind_max_bytes);
  wanted.tail_cache_max_bytes = tail_cache_bytes;
  wanted.answers_max_bytes = answers_bytes;
  wanted.fetch_sessions_max_bytes = server::fetch_session_limits{}.max_bytes;
  wanted.frame_max_bytes = static_cast<std::size_t>(config.socket_request_max_bytes);
  wanted.entry_max_bytes = static_cast<std::size_t>(config.entry_max_bytes);
  // A larger limit asks for a larger budget: two of the largest have to pass each other.
  wanted.requests_max_bytes = std::max(requests_bytes, 2 * std::max(wanted.frame_max_bytes, wanted.entry_max_bytes));
  memory_bounds bounds = bound_by_memory(wanted, available);
  if (bounds.frame_max_bytes < wanted.frame_max_bytes || bounds.entry_max_bytes < wanted.entry_max_bytes) {
    spdlog::warn("memory allows requests of up to {} bytes and entries of up to {}, less than is configured",
                 bounds.frame_max_bytes, bounds.entry_max_bytes);
  }
  return bounds;
}

}  // namespace

process::process(const config::broker_config& config)
    : config_(config),
      resources_(runtime::read_resources()),
      bounds_(bounds_of(config, resources_)),
      requests_(memory_budget::create(bounds_.requests_max_bytes, net::unreserved_frame_bytes)),
      answers_(memory_budget::create(bounds_.answers_max_bytes)),
      shards_(runtime::shard_count(resources_, static_cast<unsigned>(config.shards))),
      metadata_shard_(metadata_shard_index) {}

process::~process() {
  stop();
}

result<std::unique_ptr<process>> process::start(const config::broker_config& config) {
  std::unique_ptr<process> made(new process(config));
  BRAID_TRY_VOID(made->open_listeners());
  BRAID_TRY_VOID(made->open_peer_listeners());
  BRAID_TRY_VOID(made->open_admin());
  BRAID_TRY_VOID(made->open_cluster());
  if (made->cluster_->is_born()) {
    BRAID_TRY_VOID(made->serve());
    made->start_metadata();
    made->cluster_->start([] {});
    return made;
  }
  // The braid's shard does not run before there is a broker; the metadata's has time for its making, which finds empty
  // folders.
  made->start_metadata();
  made->cluster_->start([process = made.get()] {
    const uuid id = *process->cluster_->cluster_id();
    spdlog::info("the cluster is born: {}", id);
    if (const status serves = process->serve(); !serves) end_at_once(serves.error());
  });
  return made;
}

void process::start_metadata() {
  metadata_shard_.start();
  metadata_runs_ = true;
}

// From here on there is a broker.
status process::serve() {
  BRAID_TRY_VOID(open_broker());
  make_shard_parts();
  shards_.start();
  broker_->start();
  listen();
  serving_ = true;
  spdlog::info("{} shards on {}", shards_.size(), to_string(resources_));
  return {};
}

// Clients of a broker that waits for others are refused, not left waiting.
void process::listen() {
  if (!has_peers()) return;
  for (std::size_t i = 0; i < config_.listeners.size(); ++i) {
    const std::string& name = config_.listeners[i].name;
    if (std::ranges::find(config_.pushed_listeners, name) != config_.pushed_listeners.end()) continue;
    listeners_[i]->listen([name](const status& listens) {
      if (!listens) end_at_once(with_context(listens.error(), "listener " + name));
    });
  }
}

status process::open_listeners() {
  const std::uint64_t descriptors = raise_descriptor_limit();
  const std::int64_t connections = connections_within(descriptors, config_.listeners.size(), config_.max_connections);
  spdlog::info("{} file descriptors; at most {} connections a listener", descriptors, connections);
  for (std::size_t i = 0; i < config_.listeners.size(); ++i) {
    limiters_.push_back(std::make_shared<net::connection_limiter>(
        static_cast<std::size_t>(connections), static_cast<std::size_t>(config_.max_connections_per_ip)));
    auto connected = [this, i](runtime::shard& on, std::unique_ptr<io::stream> stream) {
      parts_[on.index()].connections[i]->add(std::move(stream));
    };
    const std::string& name = config_.listeners[i].name;
    const auto& pushed = config_.pushed_listeners;
    const bool is_pushed = std::ranges::find(pushed, name) != pushed.end();
    // Of a pushed one the port is taken, so that an occupied one ends the start; it listens when its address is known.
    auto opened = is_pushed || has_peers() ? net::tcp_listener::bind(config_.listeners[i].address, shards_, connected)
                                           : net::tcp_listener::open(config_.listeners[i].address, shards_, connected);
    if (!opened) return tl::unexpected(with_context(std::move(opened).error(), "listener " + name));
    listeners_.push_back(std::move(*opened));
    if (is_pushed) pushed_.add(name, *listeners_.back());
  }
  return {};
}

status process::open_peer_listeners() {
  if (!has_peers()) return {};
  const auto open = [this](const io::endpoint& at, runtime::shard& on, std::string_view key, auto take) -> status {
    auto opened = net::tcp_listener::open(
        at, std::vector<runtime::shard*>{&on},
        [this, take](runtime::shard&, std::unique_ptr<io::stream> stream) { take(*cluster_, std::move(stream)); });
    if (!opened) return tl::unexpected(with_context(std::move(opened).error(), std::string(key)));
    peer_listeners_.push_back(std::move(*opened));
    return {};
  };
  BRAID_TRY_VOID(open(config_.controller_listener, metadata_shard_, "controller.listener",
                      [](server::membership& to, auto stream) { to.take_metadata(std::move(stream)); }));
  return open(config_.braid_listener, shards_.at(0), "braid.listener",
              [](server::membership& to, auto stream) { to.take_braid(std::move(stream)); });
}

status process::open_admin() {
  admin::http_options options;
  options.listen = config_.admin_listener;
  options.not_live = [this] { return not_live(); };
  options.not_ready = [this] { return readiness(); };
  options.metrics.emplace_back([this] { return broker_metrics(*this).collect(); });
  options.api = std::make_shared<broker_api>(*this);
  options.secret_file = config_.secret_file;
  auto started = admin::http_server::start(std::move(options));
  if (!started) return tl::unexpected(with_context(std::move(started).error(), "admin.listener"));
  admin_ = std::move(*started);
  return {};
}

status process::open_cluster() {
  server::membership_options options;
  options.id = model::broker_id(static_cast<std::int32_t>(config_.broker_id));
  options.data_dir = config_.data_dir;
  options.wal_dir = config_.wal_dir;
  if (!config_.cluster_id.empty()) options.cluster_id = uuid::parse(config_.cluster_id);
  options.may_found = config_.bootstrap == "initial";
  options.newest_apply_level = braid::newest_apply_level;
  for (const config::voter& one : config_.voters) {
    options.voters.push_back({model::broker_id(one.broker), one.metadata, one.braid});
  }
  if (has_peers()) {
    BRAID_TRY(secrets, admin::secret_file(config_.secret_file).read());
    options.secrets = std::move(secrets);
  }
  const auto connect_on = [](runtime::shard& shard) {
    return [&shard](const io::endpoint& to, io::duration timeout, auto done) {
      net::tcp_connect(shard, to, timeout, std::move(done));
    };
  };
  auto opened = server::membership::open(
      std::move(options),
      {io::posix_file_system(), io::system_random(), io::system_clock(), metadata_shard_, metadata_shard_,
       connect_on(metadata_shard_), shards_.at(0), shards_.at(0), connect_on(shards_.at(0)), metadata_disk_},
      [](const error& why) { end_at_once(why); });
  if (!opened) return tl::unexpected(std::move(opened).error());
  cluster_ = std::move(*opened);
  waiting_ = true;
  return {};
}

status process::open_broker() {
  server::broker_environment environment{io::posix_file_system(), io::system_clock(), io::system_random(),
                                         metadata_shard_,         metadata_shard_,    metadata_disk_,
                                         shards_.at(0),           shards_.at(0),      wal_disk_,
                                         segment_disk_,           background_};
  environment.requests = requests_;
  environment.answers = answers_;
  if (spdlog::should_log(spdlog::level::debug)) {
    environment.on_state_hash = [](raft::index index, const hash128& hash) {
      spdlog::debug("the state of the braid at entry {} has the hash {}", index, hash.to_string());
    };
  }
  environment.on_disk_full = [](bool is_full, const std::string& why) {
    if (is_full)
      spdlog::error("writes are refused for want of space: {}; reads and deletions go on", why);
    else
      spdlog::warn("writes are taken again: {}", why);
  };
  environment.on_snapshot_wanted = [](model::broker_id broker) {
    spdlog::warn(
        "broker {} lacks entries that the log does not hold any more: it needs a snapshot, which is not built yet; "
        "the braid goes on with the others",
        broker);
  };
  environment.on_atomic_refusal = [](const std::string& what) { spdlog::info("{}", what); };
  environment.on_start_phase = [](const std::string& done, io::duration took) {
    spdlog::info("start: {}, {} ms", done, std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  };
  auto opened = server::broker::open(options_of(config_, resources_, bounds_), environment, *cluster_,
                                     [](const error& why) { end_at_once(why); });
  if (!opened) return tl::unexpected(std::move(opened).error());
  broker_ = std::move(*opened);
  broker_->set_advertised(fixed_addresses());
  // Before the broker's own start, so that no image is missed.
  metadata_shard_.post([this] {
    broker_->controller().subscribe([this](const metadata::image_ptr& image) {
      pushed_.on_image(*image, broker_->options().id, broker_->incarnation());
    });
  });
  return {};
}

// Port 0 becomes the one that the system has picked.
std::vector<server::endpoint> process::fixed_addresses() const {
  std::vector<server::endpoint> fixed;
  for (std::size_t i = 0; i < config_.listeners.size(); ++i) {
    const auto& all = config_.advertised_listeners;
    const auto shown = std::ranges::find(all, config_.listeners[i].name, &config::listener::name);
    if (shown == all.end()) continue;
    fixed.push_back(
        {shown->name, shown->address.host, shown->address.port != 0 ? shown->address.port : listeners_[i]->port()});
  }
  return fixed;
}

void process::make_shard_parts() {
  net::connection_limits limits;
  limits.max_frame_bytes = bounds_.frame_max_bytes;
  limits.idle_timeout = std::chrono::milliseconds(config_.connections_max_idle_ms);
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    runtime::shard& shard = shards_.at(i);
    shard_part& part = parts_.emplace_back();
    part.environment = std::make_unique<server::shard_environment>(
        server::shard_environment{shard.context().get_executor(), shard, shard, i, shards_.size()});
    part.dispatcher = std::make_unique<server::dispatcher>(*broker_, *part.environment);
    for (std::size_t l = 0; l < listeners_.size(); ++l) {
      const auto ended = [](const net::connection_info& info, net::close_cause cause, const std::string& reason) {
        const bool ordinary = cause == net::close_cause::peer_closed || cause == net::close_cause::idle ||
                              cause == net::close_cause::stopped;
        spdlog::log(ordinary ? spdlog::level::debug : spdlog::level::info, "connection {} from {} ended: {}: {}",
                    info.id, info.remote, net::to_string(cause), reason);
      };
      part.connections.push_back(std::make_unique<net::connection_set>(
          net::connection_context{shard, shard, shard.clock(), requests_, answers_}, config_.listeners[l].name, limits,
          *part.dispatcher, limiters_[l], ended));
    }
  }
}

std::vector<std::string> process::readiness() const {
  if (!serving_) {
    std::vector<std::string> waits = waiting_ ? cluster_->waits_for() : std::vector<std::string>();
    if (waits.empty()) waits.emplace_back("the broker is starting");
    return waits;
  }
  std::vector<std::string> missing = broker_->readiness();
  std::ranges::move(pushed_.missing(), std::back_inserter(missing));
  return missing;
}

std::vector<std::string> process::not_live() const {
  if (!serving_) return {};
  std::vector<std::string> stuck;
  const auto look = [&stuck](const runtime::shard& one, const std::string& name) {
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(one.stuck());
    if (silent >= stuck_after) stuck.push_back(fmt::format("{} has been held for {} s", name, silent.count()));
  };
  for (std::size_t i = 0; i < shards_.size(); ++i) look(shards_.at(i), fmt::format("event loop {}", i));
  look(metadata_shard_, "the event loop of the metadata");
  return stuck;
}

std::string process::kafka_address() const {
  const std::string& host = config_.listeners.front().address.host;
  return io::endpoint{host.empty() ? "0.0.0.0" : host, listeners_.front()->port()}.to_string();
}

std::string process::admin_address() const {
  const std::string& host = config_.admin_listener.host;
  return io::endpoint{host.empty() ? "0.0.0.0" : host, admin_->port()}.to_string();
}

void process::stop() {
  if (std::exchange(stopped_, true)) return;
  if (serving_ && has_peers()) hand_over();
  for (auto& listener : listeners_) listener->stop();
  for (auto& listener : peer_listeners_) listener->stop();
  if (!serving_) stop_cluster();
  if (serving_) {
    drain_connections();
    std::promise<void> stopped;
    broker_->stop([&stopped] { stopped.set_value(); });
    if (stopped.get_future().wait_for(stop_deadline) != std::future_status::ready) {
      end_at_once({std::make_error_code(std::errc::timed_out), "the broker did not stop in time"});
    }
    stop_cluster();  // last: what is under way needs the others
  }
  serving_ = false;
  if (admin_) admin_->stop();
  listeners_.clear();
  peer_listeners_.clear();
  shards_.stop();
  metadata_shard_.stop();
  // What the disks still have to do is done before the objects go that it would tell.
  wal_disk_.stop();
  metadata_disk_.stop();
  segment_disk_.stop();
  background_.stop();
  parts_.clear();
  broker_.reset();
  cluster_.reset();
}

// Clients go to the next leader before their connections end. Whoever cannot hand over, because too few others are
// there, ends all the same.
void process::hand_over() {
  const auto& voters = cluster_->voters();
  const auto there = std::ranges::count_if(
      voters, [this](const raft::node_id& one) { return cluster_->is_reachable(model::broker_id(one.broker)); });
  if (2 * static_cast<std::size_t>(there) <= voters.size()) return;  // nobody could be elected
  auto over = std::make_shared<std::promise<void>>();
  auto done = over->get_future();
  broker_->drain().begin(hand_over_deadline,
                         [over](const result<server::drain_state>& /*what is left*/) { over->set_value(); });
  done.wait_for(hand_over_deadline + std::chrono::seconds(1));
}

// Requests that are here get their answers; fetches that wait get what there is.
void process::drain_connections() {
  shards_.at(0).post([this] { broker_->braid().stop_waiting(); });
  std::vector<std::future<void>> drained;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    for (auto& set : parts_[i].connections) {
      auto done = std::make_shared<std::promise<void>>();
      drained.push_back(done->get_future());
      shards_.at(i).post([&set, done] { set->drain(drain_deadline, [done] { done->set_value(); }); });
    }
  }
  for (auto& one : drained) one.wait_for(drain_deadline + std::chrono::seconds(1));
}

// After this a cluster that waits for its birth is not born here, in this life.
void process::stop_cluster() {
  if (!metadata_runs_ || !has_peers()) return;
  std::promise<void> stopped;
  metadata_shard_.post([this, &stopped] {
    cluster_->stop_metadata();
    stopped.set_value();
  });
  stopped.get_future().wait();
  if (serving_) shards_.at(0).post([this] { cluster_->stop_braid(); });
}

}  // namespace braidmq::app

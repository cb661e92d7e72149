// One broker without its edges: folders, write-ahead logs, metadata quorum, braid, put together from an environment.
// The program gives it threads, disks and sockets; the simulator gives it virtual ones; the code is the same.
//
// Threads: open(), start() and stop() by the owner; everything else says where it belongs.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_budget.hpp"
#include "base/result.hpp"
#include "braid/replica.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/random.hpp"
#include "io/timers.hpp"
#include "metadata/controller.hpp"
#include "server/atomic_refusals.hpp"
#include "server/cluster_view.hpp"
#include "server/disk_guard.hpp"
#include "server/drain.hpp"
#include "server/fetch_sessions.hpp"
#include "server/hand_over.hpp"
#include "server/membership.hpp"
#include "server/metadata_forwarding.hpp"
#include "server/producer_ids.hpp"
#include "server/topic_admin.hpp"
#include "wal/log.hpp"

namespace braidmq::server {

struct broker_folders;

struct broker_options {
  model::broker_id id{0};
  std::string data_dir;
  std::string wal_dir;
  std::optional<uuid> cluster_id;    // none: a new cluster draws its own
  bool may_found = true;             // no: this broker belongs to a cluster that exists (braid.bootstrap)
  std::vector<endpoint> advertised;  // of listeners whose address is fixed
  std::optional<std::string> rack;   // broker.rack: where this broker stands
  // A leader sends consumers to a replica in their rack (KIP-392): Kafka's replica.selector.class with its rack aware
  // one.
  bool rack_aware_reads = false;
  std::vector<model::broker_id> braid_voters;  // who replicates the braid; none: all voters of the cluster
  std::vector<std::string> pushed;  // listeners whose address is told at run time and kept in the metadata log

  io::duration heartbeat = std::chrono::milliseconds(50);
  io::duration election_timeout = std::chrono::milliseconds(500);  // the shortest; twice as long at most
  std::uint64_t wal_file_bytes = 64ULL << 20U;
  bool wal_preallocate = true;
  storage::log_options log;
  braid::aggregator_options aggregator;
  std::size_t write_behind_max_bytes = 128U << 20U;
  io::duration write_behind_delay = braid::replica_options().write_behind_delay;
  std::uint64_t checkpoint_bytes = 256ULL << 20U;  // of entries applied since the last one
  io::duration checkpoint_interval = std::chrono::seconds(60);
  io::duration linger{};
  std::int64_t retention_ms = 604'800'000;  // -1: for ever
  std::int64_t retention_bytes = -1;        // of a partition; -1: no bound
  io::duration retention_interval = std::chrono::minutes(5);
  std::chrono::milliseconds producer_expiration = std::chrono::hours(24);
  io::duration producer_expiry_interval = std::chrono::minutes(10);
  std::uint64_t disk_reserve_bytes = 0;  // of disk_guard

  std::int32_t default_partitions = 1;
  std::int64_t max_partitions = 1'000'000;  // of all topics
  bool auto_create_topics = false;
  std::int32_t max_message_bytes = 1'048'588;
  std::int64_t timestamp_before_max_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t timestamp_after_max_ms = 3'600'000;
  bool log_append_time = false;
  bool atomic_produce = false;  // of topics that do not say (produce.atomic)
  std::size_t fetch_max_bytes = 55U << 20U;
  std::int16_t newest_apply_level = braid::newest_apply_level;  // that this broker knows
  fetch_session_limits fetch_sessions;
};

// The world around a broker. Disk executors may block, the others may not.
struct broker_environment {
  io::file_system& fs;
  const io::clock& clock;
  io::random_source& random;
  io::executor& metadata;  // control plane: a thread of its own
  io::timer_service& metadata_timers;
  io::executor& metadata_disk;
  io::executor& braid;  // the shard to which the braid is pinned
  io::timer_service& braid_timers;
  io::executor& wal_disk;
  io::executor& segment_disk;
  io::executor& background;  // what may take long: checkpoints, syncs of segments
  // What requests take once they are decoded, and what answers of fetches hold; none: no bound.
  std::shared_ptr<memory_budget> requests = nullptr;
  std::shared_ptr<memory_budget> answers = nullptr;
  // Around the write-ahead logs: how the simulator plants a bug into one. Empty otherwise.
  std::function<std::unique_ptr<wal::log>(std::unique_ptr<wal::log>)> wrap_wal = nullptr;
  std::function<std::unique_ptr<wal::log>(std::unique_ptr<wal::log>)> wrap_metadata_wal = nullptr;
  // Likewise around the way to the other voters of a group, and around the braid's group.
  std::function<std::unique_ptr<multiraft::transport>(raft::group_id, multiraft::transport&)> wrap_peers = nullptr;
  std::function<std::unique_ptr<multiraft::group>(std::unique_ptr<multiraft::group>)> wrap_braid_group = nullptr;
  // Hears of the hash of the braid's state after every so many entries, on `braid`; none: nobody asks.
  std::function<void(raft::index, const hash128&)> on_state_hash = nullptr;
  std::uint64_t state_hash_interval = 1024;
  // Hears when writes begin to be refused for want of space, and when they are taken again, on `braid`.
  std::function<void(bool is_full, const std::string& why)> on_disk_full = nullptr;
  // Hears, on `braid`, of another broker that was away for longer than the log is kept for it: once in a while, as long
  // as that is so.
  std::function<void(model::broker_id)> on_snapshot_wanted = nullptr;
  // Hears of refused atomic writes, of one in ten seconds, on any shard.
  std::function<void(const std::string& what)> on_atomic_refusal = nullptr;
  // Whether another broker is there, as far as can be seen from here; any thread. Empty: the connections between
  // voters say so, and in a cluster without any every registered broker is.
  std::function<bool(model::broker_id)> is_alive = nullptr;
  // Hears of each phase of the start when it is over: first on the thread that opens, then on `braid`.
  std::function<void(const std::string& done, io::duration took)> on_start_phase = nullptr;
};

class broker {
 public:
  // Blocking: reads the write-ahead logs. `cluster` is born, and outlives the broker: id and cluster are its.
  // `on_fatal` is told at most once, on any of the broker's executors, when a disk has failed: nothing is acknowledged
  // from then on and the process should end.
  static result<std::unique_ptr<broker>> open(broker_options options, broker_environment environment,
                                              membership& cluster, unique_function<void(error)> on_fatal);
  // The same of a cluster of its own, with folders that this formats or opens.
  static result<std::unique_ptr<broker>> open(broker_options options, broker_environment environment,
                                              unique_function<void(error)> on_fatal);

  // Recovery goes on behind this: see readiness().
  void start();

  // Refuses new work and answers what waits. `stopped` runs when both planes have stopped; the object may be destroyed
  // once their executors have run dry.
  void stop(unique_function<void()> stopped);

  // What is missing until this broker serves; empty when it does. Any thread.
  std::vector<std::string> readiness() const;

  const broker_options& options() const { return options_; }
  const broker_environment& environment() const { return environment_; }
  const uuid& incarnation() const { return cluster_.incarnation(); }
  membership& cluster() { return cluster_; }
  const membership& cluster() const { return cluster_; }

  metadata::controller& controller() { return *controller_; }  // its header says which calls may come from where
  metadata::image_ptr image() const { return controller_->current(); }
  braid::replica& braid() { return *replica_; }                                    // on environment().braid only
  const disk_guard_stats& disk_space() const { return disk_guard_.statistics(); }  // on environment().braid only
  producer_ids& producer_id_source() { return *producer_ids_; }
  topic_admin& topics() { return topics_; }  // any thread
  atomic_refusals& refused_atomic_writes() { return atomic_refusals_; }
  const wal::log& wal() const { return *wal_; }                    // on environment().braid only
  const wal::log& metadata_wal() const { return *metadata_wal_; }  // on environment().metadata only

  // How clients reach this broker by one of its listeners; none when that is not known. Any thread.
  std::optional<endpoint> advertised(const std::string& listener) const;
  // Whether a broker is there, as far as can be seen from here. Any thread.
  bool is_alive(model::broker_id other) const;
  // What this broker knows of the cluster now, for requests that come by this listener. Any thread.
  cluster_view view(const std::string& listener) const;
  // Begins and reports draining (server/drain.hpp).
  server::drain& drain() { return *drain_; }
  const server::drain& drain() const { return *drain_; }

  // Ports are known only when sockets are bound. Before start().
  void set_advertised(std::vector<endpoint> advertised) { options_.advertised = std::move(advertised); }

 private:
  broker(broker_options options, broker_environment environment, membership& cluster,
         unique_function<void(error)> on_fatal);

  status open_planes();
  multiraft::transport* transport_of(raft::group_id group, multiraft::transport* own);
  status check_cluster(const broker_folders& folders);
  status check_cluster_id(const uuid& found) const;
  status check_identity(const metadata::image& image) const;
  void on_image(const metadata::image_ptr& image);
  void fatal(error why);
  std::string missing_of_braid() const;
  void tell_phase(const std::string& done, io::duration took) const;
  void tell_applied();
  void tell_snapshot_wanted(const raft::node_id& peer);

  broker_options options_;
  broker_environment environment_;
  unique_function<void(error)> on_fatal_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> braid_caught_up_{false};
  std::unique_ptr<membership> own_cluster_;  // of a broker that was opened without one
  membership& cluster_;

  std::unique_ptr<wal::log> metadata_wal_;
  std::unique_ptr<wal::log> wal_;
  std::vector<std::unique_ptr<multiraft::transport>> wrapped_peers_;
  std::unique_ptr<metadata_forwarding> forwarding_;  // null with one voter
  std::unique_ptr<metadata::controller> controller_;
  std::unique_ptr<braid::replica> replica_;
  std::unique_ptr<producer_ids> producer_ids_;
  std::unique_ptr<office_transfer> transfer_;
  std::unique_ptr<server::drain> drain_;
  disk_guard disk_guard_;
  topic_admin topics_{*this};
  atomic_refusals atomic_refusals_{environment_.on_atomic_refusal};
  std::map<std::int32_t, io::time_point> snapshots_told_;  // braid executor
  metadata::image_ptr followed_image_;                     // metadata executor: what the braid has been told of
};

}  // namespace braidmq::server

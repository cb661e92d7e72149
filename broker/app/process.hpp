// The broker as a process: threads, sockets and signals around server::broker. Everything is bound and checked before
// the data folder is touched, so that a start that fails changes nothing on disk. With several voters the broker comes
// to be when their cluster has been born, which may take until the last of them is there (server/membership.hpp).
//
// Threads: one shard per core (the first one carries the braid), one for the metadata quorum, one per disk duty; the
// main thread waits for signals.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "admin/http_server.hpp"
#include "app/memory_bounds.hpp"
#include "app/pushed_listeners.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "io/thread_executor.hpp"
#include "multiraft/checkpointer.hpp"
#include "net/connection_set.hpp"
#include "net/tcp_listener.hpp"
#include "runtime/resources.hpp"
#include "runtime/shard_set.hpp"
#include "server/broker.hpp"
#include "server/dispatcher.hpp"
#include "server/membership.hpp"

namespace braidmq::app {

class process {
 public:
  // Binds ports, opens folders and logs, starts all threads. Recovery goes on behind it.
  static result<std::unique_ptr<process>> start(const config::broker_config& config);
  ~process();

  std::vector<std::string> readiness() const;
  // Event loops that have not come round for too long; empty when all do.
  std::vector<std::string> not_live() const;
  // "127.0.0.1:9092" of the first listener, and of the admin port.
  std::string kafka_address() const;
  std::string admin_address() const;

  // Takes no new work, answers what is under way, ends all threads. Bounded by a few seconds.
  void stop();

 private:
  friend class broker_metrics;
  friend class broker_api;

  // What lives on one shard.
  struct shard_part {
    std::unique_ptr<server::shard_environment> environment;
    std::unique_ptr<server::dispatcher> dispatcher;
    std::vector<std::unique_ptr<net::connection_set>> connections;  // by listener
  };

  explicit process(const config::broker_config& config);

  bool has_peers() const { return config_.voters.size() > 1; }
  status open_listeners();
  status open_peer_listeners();
  std::vector<server::endpoint> fixed_addresses() const;
  status open_admin();
  status open_cluster();
  status open_broker();
  void make_shard_parts();
  void start_metadata();
  status serve();
  void listen();
  void stop_cluster();
  void hand_over();
  void drain_connections();

  config::broker_config config_;
  runtime::resources resources_;
  memory_bounds bounds_;
  std::shared_ptr<memory_budget> requests_;  // bytes of all connections' requests
  std::shared_ptr<memory_budget> answers_;   // and of their answers
  runtime::shard_set shards_;
  runtime::shard metadata_shard_;
  io::thread_executor metadata_disk_{"metadata-wal"};
  io::thread_executor wal_disk_{"braid-wal"};
  io::thread_executor segment_disk_{"segments"};
  io::thread_executor background_{"checkpoints", multiraft::checkpoint_options{}.syncs_at_once};
  std::vector<std::shared_ptr<net::connection_limiter>> limiters_;  // by listener
  std::vector<shard_part> parts_;                                   // by shard
  std::unique_ptr<server::membership> cluster_;
  std::unique_ptr<server::broker> broker_;
  std::vector<std::unique_ptr<net::tcp_listener>> listeners_;
  std::vector<std::unique_ptr<net::tcp_listener>> peer_listeners_;
  pushed_listeners pushed_;
  std::unique_ptr<admin::http_server> admin_;
  std::atomic<bool> waiting_{false};  // cluster_ is there: admin threads may look
  std::atomic<bool> serving_{false};  // broker_ is there and shards run: admin threads may look
  bool metadata_runs_ = false;
  bool stopped_ = false;
};

}  // namespace braidmq::app

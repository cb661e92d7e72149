// The operator as a process: clients, election, a unit per namespace, HTTP. It watches from the start, so that one that
// waits for the Lease takes over with full caches, and writes only while it leads.
//
// Threads: those of its parts, and one for duties: each may wait for the API server. start() and stop() by the owner,
// who never does for long.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "operator_app/health_server.hpp"
#include "operator_app/metrics.hpp"
#include "operator_app/options.hpp"
#include "operator_app/unit.hpp"

namespace braidmq::operator_app {

class process {
 public:
  static result<std::unique_ptr<process>> start(const options& given);
  ~process();  // stop()

  // Ends all work, then gives the Lease free. What is under way has 2 s to end by itself, then its calls are ended; the
  // Lease costs 3 s more when the API server is silent.
  void stop();

  std::uint16_t port() const { return http_->port(); }

 private:
  explicit process(const options& given) : options_(given) {}

  status connect();
  status open_http();
  status begin_election();
  bool may_lead() const;
  // What comes round: begins to work when leading and synced, applies initial objects, looks at CRDs.
  void run_duties();
  std::vector<std::string> not_ready() const;
  std::vector<std::string> not_healthy() const;
  metric_sources sources() const;
  void begin_to_work();
  void apply_initial();
  void check_crds();

  const options options_;
  std::unique_ptr<k8s::http_client> client_;
  std::unique_ptr<k8s::http_client> election_client_;  // with a deadline well within the renewal's
  std::unique_ptr<k8s::event_writer> events_;
  std::vector<std::unique_ptr<unit>> units_;
  std::unique_ptr<k8s::leader_elector> elector_;
  std::unique_ptr<health_server> http_;
  std::atomic<const k8s::leader_elector*> lead_{nullptr};  // for threads that are there before it
  std::atomic<bool> leading_{false};
  bool working_ = false;
  bool stopped_ = false;
  k8s::stop_signal stopping_;
  std::thread duties_;  // tidy: allow(thread): blocks in requests
  io::time_point initial_at_{};
  io::time_point crds_at_{};
  std::string said_;
};

}  // namespace braidmq::operator_app

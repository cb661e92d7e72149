// What a scrape shows: counters are copied on the thread that owns them, one hop each, with a deadline; a thread that
// does not answer in time leaves its families out, and braidmq_scrape_timeouts_total says so.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "app/process.hpp"

namespace braidmq::app {

class broker_metrics {
 public:
  explicit broker_metrics(process& process) : process_(process) {}

  // On an admin thread.
  std::vector<prometheus::MetricFamily> collect();

 private:
  void add_apis();
  void add_memory();
  void add_connections();
  void add_fetch_sessions();
  void add_atomic_writes();
  void add_shards();
  void add_braid();
  void add_peers();
  void add_wal();
  void add_checkpoints();
  void add_disk_space();
  void add_metadata();

  process& process_;
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace braidmq::app

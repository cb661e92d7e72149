// Who breaks the network between brokers: one is cut off from all others, or is heard and does not hear, or the other
// way round; a pair does not speak with each other; everything stands still. After a while it heals.
#pragma once

#include "world/cluster.hpp"
#include "world/conditions.hpp"

namespace braidmq::sim {

class partition_nemesis {
 public:
  partition_nemesis(const network_faults& rates, cluster_host& cluster, scheduler& world, rng chance)
      : rates_(rates), cluster_(cluster), world_(world), chance_(chance) {}

  void after_task();
  void stop();
  void set_verbose(bool on) { verbose_ = on; }

 private:
  bool due(std::uint64_t mean_tasks) { return mean_tasks != 0 && chance_.below(mean_tasks) == 0; }
  std::string break_something();

  network_faults rates_;
  cluster_host& cluster_;
  scheduler& world_;
  rng chance_;
  io::time_point heals_{};
  bool active_ = true;
  bool verbose_ = false;
};

}  // namespace braidmq::sim

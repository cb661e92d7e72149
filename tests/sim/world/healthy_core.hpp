// A majority that is well, and a minority that is not: down, stopped, or cut off, in one direction or in both. The
// majority must get on without it, however long that lasts, and whoever led before.
#pragma once

#include <set>
#include <string>

#include "world/cluster.hpp"

namespace braidmq::sim {

class healthy_core {
 public:
  // Of a cluster without other faults. Ends the life of, stops or cuts off as many as may fail.
  healthy_core(cluster_host& cluster, rng& chance);

  bool has(std::size_t machine) const { return !lost_.contains(machine); }
  bool keeps_down(std::size_t machine) const { return is_down_ && lost_.contains(machine); }
  // Somebody in it serves, all in it are ready and take writes.
  bool is_at_work() const;
  std::string describe() const { return what_; }
  // Everybody is well again.
  void end();

 private:
  void lose(std::size_t machine, std::uint64_t how);

  cluster_host& cluster_;
  std::set<std::size_t> lost_;
  bool is_down_ = false;
  std::string what_;
};

}  // namespace braidmq::sim

// Who breaks things: after each task it may cut power, kill or stop the broker, arm a crash inside of a file operation,
// fail a disk, cut a connection, move the wall clock, slow an executor down. When and what is drawn.
#pragma once

#include <optional>
#include <string>

#include "world/machine.hpp"

namespace braidmq::sim {

class nemesis {
 public:
  nemesis(const conditions& drawn, machine_host& machine, scheduler& world, rng chance)
      : rates_(drawn.faults), longest_pause_(drawn.longest_pause), machine_(machine), world_(world), chance_(chance) {}

  void after_task();
  void stop() { active_ = false; }
  bool active() const { return active_; }
  void set_verbose(bool on) { verbose_ = on; }

 private:
  bool due(std::uint64_t mean_tasks) { return mean_tasks != 0 && chance_.below(mean_tasks) == 0; }
  void end_life(end_of_life how, const char* what);
  void cut_a_connection();
  bool ends_at_election();
  void say(const std::string& what) const;

  fault_rates rates_;
  io::duration longest_pause_;
  machine_host& machine_;
  scheduler& world_;
  rng chance_;
  bool active_ = true;
  bool verbose_ = false;
  std::uint64_t stopping_life_ = 0;  // the life that was told to stop
  std::uint64_t stopped_life_ = 0;   // the life that has
  raft::term braid_term_;
  raft::term metadata_term_;
  std::optional<std::uint64_t> ends_at_task_;
};

}  // namespace braidmq::sim

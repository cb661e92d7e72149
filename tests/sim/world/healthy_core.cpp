#include "world/healthy_core.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace braidmq::sim {
namespace {

constexpr io::duration for_ever = std::chrono::hours(100);

}  // namespace

healthy_core::healthy_core(cluster_host& cluster, rng& chance) : cluster_(cluster) {
  const std::size_t all = cluster.size();
  const auto leader = cluster.leader();
  const std::uint64_t how = chance.below(5);
  while (lost_.size() < (all - 1) / 2) {
    const bool is_leader = leader && lost_.empty() && chance.chance(0.5);
    lost_.insert(is_leader ? *leader : chance.below(all));
  }
  for (const std::size_t one : lost_) lose(one, how);
}

void healthy_core::lose(std::size_t machine, std::uint64_t how) {
  machine_host& lost = cluster_.at(machine);
  // What does not run cannot be stopped, and stays down.
  is_down_ = is_down_ || how == 0 || (how == 1 && !lost.running());
  if (how == 0 && lost.running()) lost.end_life(end_of_life::process_killed);
  if (how == 1) lost.pause(for_ever);
  for (std::size_t other = 0; how > 1 && other < cluster_.size(); ++other) {
    if (other == machine) continue;
    if (how != 3) cluster_.peers().stall(machine, other);
    if (how != 4) cluster_.peers().stall(other, machine);
  }
  constexpr std::array words = {"is down", "is stopped", "is cut off", "hears nobody", "is heard by nobody"};
  what_ += fmt::format("{}broker {} {}", what_.empty() ? "" : ", ", machine, words[how]);
}

bool healthy_core::is_at_work() const {
  const auto leader = cluster_.leader();
  if (!leader || !has(*leader)) return false;
  return std::ranges::all_of(cluster_.machines(), [this](const auto& one) {
    return !has(one->number()) || (one->ready() && !one->refuses_writes());
  });
}

void healthy_core::end() {
  is_down_ = false;
  cluster_.peers().heal();
  for (const std::size_t one : lost_) cluster_.at(one).go_on_at_once();
}

}  // namespace braidmq::sim

#include "world/partitions.hpp"

#include <fmt/format.h>

namespace braidmq::sim {

void partition_nemesis::after_task() {
  if (!active_ || cluster_.is_alone()) return;
  if (!cluster_.peers().is_whole() && world_.now() >= heals_) {
    if (verbose_) fmt::print("{:>12.6f} s  the network heals\n", world_.now().time_since_epoch().count() / 1e9);
    cluster_.peers().heal();
  }
  if (due(rates_.cut_connection)) cluster_.peers().cut_one();
  if (!due(rates_.stall)) return;
  const std::string what = break_something();
  heals_ = world_.now() + io::duration(chance_.below(static_cast<std::uint64_t>(rates_.longest_stall.count())));
  world_.events().mix(event::fault, static_cast<std::uint64_t>(heals_.time_since_epoch().count()));
  if (verbose_) fmt::print("{:>12.6f} s  {}\n", world_.now().time_since_epoch().count() / 1e9, what);
}

std::string partition_nemesis::break_something() {
  peer_network& peers = cluster_.peers();
  const std::size_t all = cluster_.size();
  std::size_t one = chance_.below(all);
  // Leaders are the ones to be cut off.
  if (const auto leader = cluster_.leader(); leader && chance_.chance(0.5)) one = *leader;
  const std::size_t other = (one + 1 + chance_.below(all - 1)) % all;
  switch (chance_.below(5)) {
    case 0:
      for (std::size_t i = 0; i < all; ++i) {
        if (i != one) peers.stall(i, one);
      }
      return fmt::format("broker {} hears nobody", one);
    case 1:
      for (std::size_t i = 0; i < all; ++i) {
        if (i != one) peers.stall(one, i);
      }
      return fmt::format("nobody hears broker {}", one);
    case 2:
      peers.stall(one, other);
      if (chance_.chance(0.5)) peers.stall(other, one);
      return fmt::format("broker {} does not hear broker {}", other, one);
    default:
      for (std::size_t i = 0; i < all; ++i) {
        if (i == one) continue;
        peers.stall(one, i);
        peers.stall(i, one);
      }
      return fmt::format("broker {} is cut off", one);
  }
}

void partition_nemesis::stop() {
  active_ = false;
  cluster_.peers().heal();
  cluster_.peers().steady();
}

}  // namespace braidmq::sim

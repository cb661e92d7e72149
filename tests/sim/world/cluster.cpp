#include "world/cluster.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace braidmq::sim {

cluster_host::cluster_host(scheduler& world, sim_executor& network, const conditions& drawn, plant planted, rng& chance)
    : peers_(world, network, drawn.brokers > 1 ? chance.split() : rng(0), drawn.network) {
  for (std::size_t i = 0; i < drawn.brokers; ++i) {
    machines_.push_back(std::make_unique<machine_host>(world, network, drawn, planted, chance.split(),
                                                       machine_place{i, drawn.brokers, peers_, hashes_, links_made_}));
  }
}

bool cluster_host::all_running() const {
  return std::ranges::all_of(machines_, [](const auto& one) { return one->running(); });
}

bool cluster_host::all_ready() const {
  return std::ranges::all_of(machines_, [](const auto& one) { return one->ready(); });
}

bool cluster_host::anyone_refuses_writes() const {
  return std::ranges::any_of(machines_, [](const auto& one) { return one->refuses_writes(); });
}

bool cluster_host::is_level() const {
  if (!all_ready() || !leader()) return false;
  const raft::index of_first = machines_.front()->applied_index();
  return std::ranges::all_of(machines_, [&](const auto& one) { return one->applied_index() == of_first; });
}

std::optional<std::size_t> cluster_host::leader() const {
  std::optional<std::size_t> found;
  raft::term highest;
  for (const auto& one : machines_) {
    const auto office = one->braid_office();
    if (!office || !office->serves || (found && office->term < highest)) continue;
    highest = office->term;
    found = one->number();
  }
  return found;
}

known_term cluster_host::term_of(std::size_t broker, std::uint64_t life) const {
  const machine_host& one = *machines_[broker];
  const auto office = one.life_number() == life ? one.braid_office() : std::nullopt;
  if (!office) return {raft::term(0), newest_term_};
  // One that follows may be behind.
  return {office->serves ? office->term : raft::term(0), office->term};
}

std::pair<std::int64_t, std::int64_t> cluster_host::wall_clocks() const {
  std::pair<std::int64_t, std::int64_t> bounds{machines_.front()->wall_ms(), machines_.front()->wall_ms()};
  for (const auto& one : machines_) {
    bounds = {std::min(bounds.first, one->wall_ms()), std::max(bounds.second, one->wall_ms())};
  }
  return bounds;
}

std::string cluster_host::describe() const {
  std::string all;
  for (const auto& one : machines_) {
    const auto office = one->braid_office();
    all += fmt::format("{}broker {}: {} ({}", all.empty() ? "" : "; ", one->number(),
                       one->ready() ? "ready" : one->missing(), one->figures());
    if (office && !is_alone()) {
      all +=
          fmt::format(", term {}, leader {}{}", office->term, office->leader.broker, office->serves ? ", serves" : "");
    }
    all += ")";
  }
  return all;
}

client_connection cluster_host::connect(sim_executor& client, std::optional<std::size_t> wanted, rng& chance) {
  std::size_t number = 0;
  if (!is_alone()) number = wanted && *wanted < size() && at(*wanted).running() ? *wanted : chance.below(size());
  machine_host& to = at(number);
  return {to.connect(client), number, to.life_number()};
}

void cluster_host::look_at_offices() {
  if (is_alone()) return;
  for (const auto& one : machines_) {
    if (const auto office = one->braid_office()) {
      newest_term_ = std::max(newest_term_, office->term);
      note("the braid", terms_, *one, *office);
    }
    if (const auto office = one->metadata_office()) note("the metadata quorum", metadata_terms_, *one, *office);
  }
}

// What a follower says is who wins the term's leadership to its knowledge, so it counts like the leader's own word.
void cluster_host::note(const char* group, leaders& known, const machine_host& machine,
                        const multiraft::office& office) {
  if (office.leader.is_none()) return;
  const auto [at, first] = known.try_emplace(office.term, office.leader);
  if (first || at->second == office.leader || failure_) return;
  failure_ = fmt::format("two leaders of {} in term {}: broker {}, and broker {} says broker {}", group, office.term,
                         at->second.broker, machine.number(), office.leader.broker);
}

const std::optional<std::string>& cluster_host::failure() {
  for (const auto& one : machines_) {
    if (!failure_ && one->failure()) {
      failure_ = is_alone() ? *one->failure() : fmt::format("broker {}: {}", one->number(), *one->failure());
    }
  }
  return failure_;
}

machine_counters cluster_host::counters() const {
  machine_counters all;
  for (const auto& one : machines_) {
    const machine_counters& of = one->counters();
    all.lives += of.lives;
    all.power_cuts += of.power_cuts;
    all.kills += of.kills;
    all.clean_stops += of.clean_stops;
    all.disk_errors += of.disk_errors;
    all.recoveries_cut_short += of.recoveries_cut_short;
    all.state_hashes += of.state_hashes;
    all.full_disks += of.full_disks;
    all.pauses += of.pauses;
    all.producers_forgotten += of.producers_forgotten;
  }
  return all;
}

}  // namespace braidmq::sim

#include "planted.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "run_apart.hpp"
#include "simulation.hpp"

namespace braidmq::sim {
namespace {

struct recorded_seed {
  std::uint64_t seed = 0;
  std::uint64_t operations = 0;
  std::size_t brokers = 1;
};

// What was found first; empty: nothing. In a process of its own, as a broker may find its own bug and end itself.
std::string run_with(plant bug, recorded_seed at) {
  run_options options;
  options.seed = at.seed;
  options.operations = at.operations;
  options.brokers = at.brokers;
  options.planted = bug;
  const auto found = run_apart([&]() -> std::string {
    const run_outcome outcome = run(options);
    if (outcome.found.empty()) return {};
    return fmt::format("checker {}: {}", outcome.found.front().checker, outcome.found.front().what);
  });
  return found;
}

std::string again(recorded_seed at) {
  return fmt::format("braid-sim --seed {} --ops {}{}", at.seed, at.operations,
                     at.brokers == 1 ? "" : fmt::format(" --brokers {}", at.brokers));
}

std::string name_of(plant bug) {
  for (const auto& [name, which] : named_plants()) {
    if (which == bug) return std::string(name);
  }
  return {};
}

std::map<plant, recorded_seed> read_recorded(const std::string& path) {
  std::map<plant, recorded_seed> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    recorded_seed at;
    if (!(words >> name >> at.seed >> at.operations >> at.brokers)) continue;
    if (const auto bug = parse_plant(name)) all[*bug] = at;
  }
  return all;
}

// False, with words, when the recorded run does not say what it said.
bool replay(plant bug, recorded_seed at) {
  const std::string name = name_of(bug);
  const std::string on = run_with(bug, at);
  if (on.empty()) {
    fmt::print("FAIL {}: not found by its seed any more; search it again: make sim-planted RECORD=1   {} --plant {}\n",
               name, again(at), name);
    return false;
  }
  const std::string off = run_with(plant::none, at);
  if (!off.empty()) {
    fmt::print("FAIL {}: seed {} without the bug: {}   reproduce: {}\n", name, at.seed, off, again(at));
    return false;
  }
  fmt::print("{}: seed {} finds it ({}), and nothing without it\n", name, at.seed, on);
  return true;
}

}  // namespace

bool search_plants(const plant_search& wanted) {
  std::size_t found = 0;
  std::ostringstream lines;
  std::size_t all = 0;
  for (const auto& [name, bug] : named_plants()) {
    if (bug == plant::none || (wanted.only != plant::none && bug != wanted.only)) continue;
    ++all;
    const auto began = std::chrono::steady_clock::now();
    std::string first;
    for (std::size_t i = 0; i < wanted.seeds.size() && first.empty(); ++i) {
      // Three brokers take long, in a debug build above all.
      const recorded_seed at = needs_peers(bug) ? recorded_seed{wanted.seeds[i], wanted.operations / 2, 3}
                                                : recorded_seed{wanted.seeds[i], wanted.operations, 1};
      first = run_with(bug, at);
      if (first.empty()) continue;
      fmt::print(lines, "{} {} {} {}\n", name, at.seed, at.operations, at.brokers);
      fmt::print("{}: seed {} ({:.1f} s): {}\n", name, at.seed,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), first);
      ++found;
    }
    if (first.empty()) fmt::print("FAIL {}: not found by {} seeds\n", name, wanted.seeds.size());
    std::fflush(stdout);
  }
  fmt::print("{} of {} planted bugs found\n", found, all);
  if (!wanted.record.empty()) {
    std::ofstream out(wanted.record);
    out << "# The first seed that finds each planted bug, the operations of its run and its brokers: `make sim-planted "
           "RECORD=1`.\n"
        << lines.str();
    out.flush();
    if (!out) fmt::print("FAIL {} cannot be written\n", wanted.record);
    return found == all && out;
  }
  return found == all;
}

bool replay_plants(const std::string& recorded, plant only) {
  const std::map<plant, recorded_seed> seeds = read_recorded(recorded);
  bool good = true;
  for (const auto& [name, bug] : named_plants()) {
    if (bug == plant::none || (only != plant::none && bug != only)) continue;
    const auto at = seeds.find(bug);
    if (at == seeds.end()) fmt::print("FAIL {}: no seed is recorded in {}\n", name, recorded);
    good = at != seeds.end() && replay(bug, at->second) && good;
  }
  return good;
}

}  // namespace braidmq::sim

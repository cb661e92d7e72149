#include "planted.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "simulation.hpp"

namespace braidmq::sim {
namespace {

struct recorded_seed {
  std::uint64_t seed = 0;
  std::uint64_t operations = 0;
};

run_outcome run_with(plant bug, recorded_seed at) {
  run_options options;
  options.seed = at.seed;
  options.operations = at.operations;
  options.planted = bug;
  return run(options);
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
    if (!(words >> name >> at.seed >> at.operations)) continue;
    if (const auto bug = parse_plant(name)) all[*bug] = at;
  }
  return all;
}

// False, with words, when the recorded run does not say what it said.
bool replay(plant bug, recorded_seed at) {
  const std::string name = name_of(bug);
  const std::string again = fmt::format("braid-sim --seed {} --ops {}", at.seed, at.operations);
  const run_outcome on = run_with(bug, at);
  if (on.found.empty()) {
    fmt::print("FAIL {}: not found by its seed any more; search it again: make sim-planted RECORD=1   {} --plant {}\n",
               name, again, name);
    return false;
  }
  const run_outcome off = run_with(plant::none, at);
  if (!off.found.empty()) {
    fmt::print("FAIL {}: seed {} without the bug: checker {}: {}   reproduce: {}\n", name, at.seed,
               off.found.front().checker, off.found.front().what, again);
    return false;
  }
  fmt::print("{}: seed {} finds it (checker {}: {}), and nothing without it\n", name, at.seed, on.found.front().checker,
             on.found.front().what);
  return true;
}

}  // namespace

bool search_plants(const plant_search& wanted) {
  std::size_t found = 0;
  std::ostringstream lines;
  for (const auto& [name, bug] : named_plants()) {
    if (bug == plant::none) continue;
    const auto began = std::chrono::steady_clock::now();
    std::optional<violation> first;
    for (std::size_t i = 0; i < wanted.seeds.size() && !first; ++i) {
      const run_outcome outcome = run_with(bug, {wanted.seeds[i], wanted.operations});
      if (outcome.found.empty()) continue;
      first = outcome.found.front();
      fmt::print(lines, "{} {} {}\n", name, wanted.seeds[i], wanted.operations);
      fmt::print("{}: seed {} ({:.1f} s): checker {}: {}\n", name, wanted.seeds[i],
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), first->checker,
                 first->what);
      ++found;
    }
    if (!first) fmt::print("FAIL {}: not found by {} seeds\n", name, wanted.seeds.size());
    std::fflush(stdout);
  }
  const std::size_t all = named_plants().size() - 1;
  fmt::print("{} of {} planted bugs found\n", found, all);
  if (!wanted.record.empty()) {
    std::ofstream out(wanted.record);
    out << "# The first seed that finds each planted bug, and the operations of its run: `make sim-planted RECORD=1`.\n"
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

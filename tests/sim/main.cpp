// braid-sim: runs seeds, prints what they did, and for each one that fails a line that repeats it.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "planted.hpp"
#include "simulation.hpp"

namespace braidmq::sim {
namespace {

struct arguments {
  std::uint64_t seed = 1;
  std::string seeds = "1";  // how many, or FROM..TO
  std::uint64_t operations = 600;
  std::size_t brokers = 1;
  std::string planted = "none";
  std::string recorded;
  double minutes = 0;
  bool verbose = false;
  bool twice = false;
  bool expect_violation = false;
  bool every_plant = false;
  std::string record;
  std::string replay;
};

struct totals {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t operations = 0;
  std::uint64_t records = 0;
  std::uint64_t tasks = 0;
  std::uint64_t repetitions = 0;
  std::uint64_t let_go = 0;
  std::uint64_t forgotten = 0;
  std::uint64_t forgetful = 0;  // runs
  std::uint64_t bits_turned = 0;
  std::uint64_t index_bits_turned = 0;
  std::uint64_t starts_refused = 0;
  std::uint64_t reads_refused = 0;
  std::uint64_t lives = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t kills = 0;
  std::uint64_t stops = 0;
  std::uint64_t disk_errors = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t full_disks = 0;
  std::uint64_t state_hashes = 0;
  std::uint64_t terms = 0;
  std::uint64_t stalls = 0;
  double simulated_seconds = 0;
  std::uint64_t least_acknowledgements = std::numeric_limits<std::uint64_t>::max();  // of a run
  std::uint64_t least_faults = std::numeric_limits<std::uint64_t>::max();

  void add(const run_outcome& one) {
    ++(one.found.empty() ? passed : failed);
    operations += one.operations;
    records += one.records_acknowledged;
    tasks += one.tasks;
    repetitions += one.repetitions;
    let_go += one.offsets_let_go;
    forgotten += one.machine.producers_forgotten;
    forgetful += one.machine.producers_forgotten > 0 ? 1 : 0;
    bits_turned += one.bits_turned;
    index_bits_turned += one.index_bits_turned;
    starts_refused += one.starts_refused;
    reads_refused += one.reads_refused;
    lives += one.machine.lives;
    power_cuts += one.machine.power_cuts;
    kills += one.machine.kills;
    stops += one.machine.clean_stops;
    disk_errors += one.machine.disk_errors;
    interrupted += one.machine.recoveries_cut_short;
    full_disks += one.machine.full_disks;
    state_hashes += one.machine.state_hashes;
    terms += one.terms;
    stalls += one.stalls;
    simulated_seconds += one.simulated_seconds;
    least_acknowledgements = std::min(least_acknowledgements, one.acknowledgements);
    least_faults = std::min(least_faults, one.machine.faults());
  }
};

// The seeds of a file: one a line, then why; '#' begins a comment.
std::vector<std::uint64_t> read_recorded(const std::string& path) {
  std::vector<std::uint64_t> seeds;
  std::ifstream in(path);
  if (!in) throw CLI::ValidationError("--recorded", "cannot read " + path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (std::uint64_t seed = 0; words >> seed) seeds.push_back(seed);
  }
  return seeds;
}

std::vector<std::uint64_t> seeds_of(const arguments& given) {
  std::vector<std::uint64_t> seeds;
  if (!given.recorded.empty()) seeds = read_recorded(given.recorded);
  const auto dots = given.seeds.find("..");
  const std::uint64_t first = dots == std::string::npos ? given.seed : std::stoull(given.seeds.substr(0, dots));
  const std::uint64_t last =
      dots == std::string::npos ? first + std::stoull(given.seeds) - 1 : std::stoull(given.seeds.substr(dots + 2));
  for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
  return seeds;
}

void report(const arguments& given, const run_options& options, const run_outcome& outcome) {
  for (std::size_t i = given.verbose ? 0 : 1; given.verbose && i < outcome.found.size(); ++i) {
    fmt::print("  {}: {}\n", outcome.found[i].checker, outcome.found[i].what);
  }
  const violation& first = outcome.found.front();
  const std::string brokers = given.brokers == 1 ? "" : fmt::format(" --brokers {}", given.brokers);
  const std::string plant = given.planted == "none" ? "" : " --plant " + given.planted;
  fmt::print("FAIL seed={}: checker {}: {} ({} in all)   reproduce: braid-sim --seed {} --ops {}{}{}\n", options.seed,
             first.checker, first.what, outcome.found.size(), options.seed, options.operations, brokers, plant);
}

void print_seed(const run_options& options, const run_outcome& outcome) {
  fmt::print(
      "seed {}: hash {:016x}, {} events, {} operations, {} records acknowledged, {} batches read, {:.1f} s "
      "simulated, {} lives, {} power cuts, {} kills\n",
      options.seed, outcome.hash, outcome.events, outcome.operations, outcome.records_acknowledged,
      outcome.batches_read, outcome.simulated_seconds, outcome.machine.lives, outcome.machine.power_cuts,
      outcome.machine.kills);
}

void print_totals(const totals& all, double real_seconds) {
  fmt::print(
      "{:.0f} s simulated in {:.1f} s ({:.0f} x), {} operations ({:.0f} per s), {} tasks, {} records "
      "acknowledged, {} batches sent again, {} records let go of; {} producers forgotten, in {} runs\n",
      all.simulated_seconds, real_seconds, all.simulated_seconds / real_seconds, all.operations,
      static_cast<double>(all.operations) / real_seconds, all.tasks, all.records, all.repetitions, all.let_go,
      all.forgotten, all.forgetful);
  fmt::print(
      "{} lives of brokers: {} power cuts ({} inside of recovery), {} kills, {} clean stops, {} disk errors, {} full "
      "disks; {} state hashes; {} turned bits, {} of them in indexes: {} starts and {} reads refused\n",
      all.lives, all.power_cuts, all.interrupted, all.kills, all.stops, all.disk_errors, all.full_disks,
      all.state_hashes, all.bits_turned, all.index_bits_turned, all.starts_refused, all.reads_refused);
  if (all.terms > 0) fmt::print("{} terms with a leader, {} stalls between brokers\n", all.terms, all.stalls);
  fmt::print("each seed with at least {} acknowledgements and {} faults\n", all.least_acknowledgements,
             all.least_faults);
  fmt::print("{} passed, {} failed\n", all.passed, all.failed);
}

int run_all(const arguments& given) {
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  const std::vector<std::uint64_t> seeds = seeds_of(given);
  totals all;
  bool differs = false;
  for (std::size_t i = 0;; ++i) {
    const bool more_time = given.minutes > 0 && elapsed() < given.minutes * 60;
    if (i >= seeds.size() && !more_time) break;
    if (given.minutes > 0 && !more_time) break;
    run_options options;
    options.seed = i < seeds.size() ? seeds[i] : seeds.back() + (i - seeds.size() + 1);
    options.operations = given.operations;
    options.brokers = given.brokers;
    options.planted = *parse_plant(given.planted);
    options.verbose = given.verbose;
    const run_outcome outcome = run(options);
    all.add(outcome);
    if (given.verbose || seeds.size() == 1) print_seed(options, outcome);
    if (!outcome.found.empty()) report(given, options, outcome);
    if (given.twice && run(options).hash != outcome.hash) {
      differs = true;
      fmt::print(
          "FAIL seed={}: checker determinism: two runs have different event hashes   reproduce: braid-sim --seed "
          "{} --ops {} --twice\n",
          options.seed, options.seed, options.operations);
    }
    std::fflush(stdout);
    if (given.expect_violation && !outcome.found.empty()) {
      fmt::print("found after {} seeds\n", i + 1);
      return 0;
    }
  }
  print_totals(all, elapsed());
  if (given.expect_violation) {
    fmt::print("the planted bug was not found\n");
    return 1;
  }
  // Seeds that pass because nothing happened in them prove nothing.
  constexpr std::uint64_t enough_to_forget = 50;  // every third run forgets producers
  if (all.failed == 0 &&
      (all.least_faults == 0 || all.least_acknowledgements < least_acknowledgements(given.operations) ||
       (all.passed >= enough_to_forget && all.forgetful < all.passed / 10))) {
    fmt::print("too idle to be trusted\n");
    return 1;
  }
  return all.failed == 0 && !differs ? 0 : 1;
}

int run_what_is_asked(const arguments& given) {
  if (given.every_plant)
    return search_plants({seeds_of(given), given.operations, *parse_plant(given.planted), given.record}) ? 0 : 1;
  if (!given.replay.empty()) return replay_plants(given.replay, *parse_plant(given.planted)) ? 0 : 1;
  return run_all(given);
}

}  // namespace
}  // namespace braidmq::sim

int main(int argc, char** argv) {
  using namespace braidmq::sim;
  arguments given;
  CLI::App app{"Runs the broker in simulated time on a simulated disk, under faults drawn from a seed."};
  app.add_option("--seed,--base-seed", given.seed, "the first seed");
  app.add_option("--seeds,--count", given.seeds, "how many seeds, or FROM..TO");
  app.add_option("--ops,--ticks", given.operations, "operations of clients in each run");
  app.add_option("--minutes", given.minutes, "go on with further seeds for so long");
  app.add_option("--recorded", given.recorded, "a file of seeds to run before the others");
  app.add_option("--brokers", given.brokers, "how many brokers each cluster has")->check(CLI::IsMember({1, 3, 5}));
  app.add_option("--plant", given.planted, "a bug to be found: " + plant_names())->check([](const std::string& name) {
    return parse_plant(name) ? "" : "no such bug: " + name;
  });
  app.add_flag("--expect-violation", given.expect_violation, "exit 0 when a violation was found, and stop there");
  app.add_flag("--every-plant", given.every_plant, "search each of the planted bugs");
  app.add_option("--record", given.record, "with --every-plant: a file for the first seed of each");
  app.add_option("--replay-plants", given.replay, "run the seeds of such a file with the bug on and off");
  app.add_flag("--twice", given.twice, "run each seed twice and compare the event hashes");
  app.add_flag("--verbose", given.verbose, "tell every fault and every violation");
  CLI11_PARSE(app, argc, argv);
  return run_what_is_asked(given);
}

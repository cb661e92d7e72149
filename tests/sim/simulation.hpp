// One run of one seed: a broker under load and faults, then peace, the final reads, further recoveries, and the
// verdict.
#pragma once

#include <cstdint>
#include <string>

#include "checkers/checkers.hpp"
#include "world/machine.hpp"
#include "world/plants.hpp"

namespace braidmq::sim {

struct run_options {
  std::uint64_t seed = 1;
  std::uint64_t operations = 600;
  std::size_t brokers = 1;
  plant planted = plant::none;
  bool verbose = false;  // tells faults and recoveries on standard output
};

struct run_outcome {
  std::uint64_t hash = 0;
  std::uint64_t events = 0;
  std::uint64_t tasks = 0;
  std::uint64_t operations = 0;
  std::uint64_t acknowledgements = 0;  // of batches, each try counted
  std::uint64_t records_acknowledged = 0;
  std::uint64_t batches_read = 0;
  std::uint64_t repetitions = 0;  // batches sent again
  std::uint64_t offsets_let_go = 0;
  std::uint64_t bits_turned = 0;
  std::uint64_t index_bits_turned = 0;  // of those
  std::uint64_t starts_refused = 0;     // because of them
  std::uint64_t reads_refused = 0;      // likewise, of a partition
  double simulated_seconds = 0;
  machine_counters machine;  // of all machines together
  std::uint64_t terms = 0;   // with a leader of the braid; with several brokers
  std::uint64_t stalls = 0;  // of a direction between two brokers
  violations found;
};

// What every run has to come to.
constexpr std::uint64_t least_acknowledgements(std::uint64_t operations) {
  return operations / 3;
}

run_outcome run(const run_options& options);

}  // namespace braidmq::sim

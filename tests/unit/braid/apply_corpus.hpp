// Recorded entries with the hash of the state after each (tests/data/apply/README.md), and a machine on simulated files
// to apply them to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "braid/machine.hpp"
#include "support/manual_executor.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::braid::corpus {

struct recorded_entry {
  raft::entry entry;
  std::string state_hash;  // after it
};

// A line for each entry: index, term, hash of the state, payload ("-": none, a leader's first entry), in hexadecimal
// digits; a line that begins with '#' is a remark.
std::string write_corpus(const std::vector<recorded_entry>& entries);
result<std::vector<recorded_entry>> parse_corpus(const std::string& text);

// The entries of a new corpus: tests/data/apply/README.md says how it becomes a file.
std::vector<raft::entry> script_of_level_1();

// A machine whose partitions have files, as a replica's have.
class filed_machine {
 public:
  filed_machine();
  ~filed_machine();

  result<std::vector<unit_outcome>> apply(const raft::entry& entry);
  std::string state_hash() const { return state_->hash().to_string(); }
  const machine& state() const { return *state_; }
  // Saves the state, forgets everything, and loads it.
  void save_and_load();

 private:
  class file_logs;

  sim::sim_file_system fs_{1};
  sim::manual_loop loop_;
  sim::manual_executor disk_{loop_};
  sim::manual_executor owner_{loop_};
  raft::term term_;
  std::unique_ptr<file_logs> logs_;
  std::unique_ptr<machine> state_;
};

}  // namespace braidmq::braid::corpus

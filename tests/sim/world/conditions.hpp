// What a seed draws before its run: the broker's bounds, the network, and which faults happen how often. Swarm testing
// (Groce et al., ISSTA 2012): most runs have only some of the faults, so that none hides the others.
#pragma once

#include <cstdint>
#include <string>

#include "checkers/checkers.hpp"
#include "server/broker.hpp"
#include "support/sim_file_system.hpp"
#include "world/network.hpp"

namespace braidmq::sim {

// Means, in tasks, between two faults of a kind; 0: never.
struct fault_rates {
  std::uint64_t crash_between_tasks = 0;
  std::uint64_t crash_at_file_operation = 0;
  std::uint64_t kill_process = 0;
  std::uint64_t clean_stop = 0;
  std::uint64_t disk_error = 0;
  std::uint64_t full_disk = 0;  // and again, for its end
  std::uint64_t cut_connection = 0;
  std::uint64_t wall_jump = 0;
  std::uint64_t change_pace = 0;  // other weights of executors: a slow disk, a busy shard
  std::uint64_t pause = 0;        // the process is stopped for a while, with all of its threads
  double crash_in_recovery = 0;   // probability, each time
  double crash_at_election = 0;   // likewise: soon after the machine has come to another term
};

// Of the network between brokers. Means in tasks, as above.
struct network_faults {
  std::uint64_t stall = 0;
  std::uint64_t cut_connection = 0;
  io::duration longest_stall{};
};

// Of messages between the voters of a group, beyond what connections do to them; probabilities of each.
struct message_faults {
  double loss = 0;
  double doubling = 0;
  double delay = 0;
  io::duration longest_delay{};
};

struct conditions {
  std::size_t brokers = 1;
  server::broker_options broker;
  kept_records kept;
  network_options network;
  fault_rates faults;  // of each machine
  network_faults between_brokers;
  message_faults messages;
  io::duration longest_pause{};  // of a broker, with several
  double clock_drift = 0;        // each machine's clock goes up to so much faster or slower
  power_cut_options power_cut;
  io::duration task_time{};
  io::duration longest_downtime{};
  io::duration longest_thinking{};  // of a client between two operations
  io::duration client_patience{};   // with one of several brokers, until it asks another
  bool wait_for_readiness = true;   // clients connect to a broker that says it is ready, or to any
  int producers = 0;                // idempotent ones
  int plain_producers = 0;
  int readers = 0;
  int atomic_producers = 0;  // every other one of them idempotent
  int session_readers = 0;   // with incremental fetch sessions
  std::size_t largest_value_bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t state_hash_interval = 1;
  bool one_shard = false;  // connections and the braid share a thread
};

// What the seed says of one broker it says of one of several too.
conditions draw_conditions(rng& chance, std::uint64_t operations, std::size_t brokers);

}  // namespace braidmq::sim

#include "world/conditions.hpp"

#include <algorithm>
#include <initializer_list>

namespace braidmq::sim {
namespace {

template <class T>
T one_of(rng& chance, std::initializer_list<T> values) {
  return *(values.begin() + chance.below(values.size()));
}

server::broker_options draw_broker(rng& chance) {
  server::broker_options options;
  options.id = model::broker_id(static_cast<std::int32_t>(chance.below(3)));
  options.data_dir = "/data";
  options.wal_dir = chance.chance(0.5) ? "/data/wal" : "/wal";
  options.advertised = {{"PLAINTEXT", "10.0.0.2", 9092}};
  options.wal_file_bytes = one_of<std::uint64_t>(chance, {8U << 10U, 64U << 10U, 512U << 10U, 64U << 20U});
  options.wal_preallocate = options.wal_file_bytes <= 512U << 10U;  // larger ones would be zeros, hashed and kept
  options.log.segments.bytes = one_of<std::uint64_t>(chance, {2U << 10U, 16U << 10U, 128U << 10U, 1U << 30U});
  options.log.index_interval_bytes = one_of<std::uint32_t>(chance, {1, 128, 1024, 4096});
  options.aggregator.entry_target_bytes = one_of<std::size_t>(chance, {1, 2U << 10U, 32U << 10U, 4U << 20U});
  options.aggregator.entry_max_bytes = 8U << 20U;
  options.aggregator.queue_max_bytes = one_of<std::size_t>(chance, {1, 8U << 10U, 128U << 10U, 128U << 20U});
  options.write_behind_max_bytes = one_of<std::size_t>(chance, {1, 8U << 10U, 128U << 10U, 128U << 20U});
  options.write_behind_delay = one_of<io::duration>(
      chance, {{}, std::chrono::milliseconds(5), std::chrono::milliseconds(20), std::chrono::seconds(1)});
  options.checkpoint_bytes = one_of<std::uint64_t>(chance, {1, 2U << 10U, 32U << 10U, 256U << 20U});
  // Not below what a configuration can say: in a world where each task takes its time, a timer that is due again at
  // once leaves none for anything else.
  options.checkpoint_interval =
      one_of<io::duration>(chance, {std::chrono::milliseconds(100), std::chrono::seconds(1), std::chrono::seconds(60)});
  options.linger = one_of<io::duration>(chance, {{}, {}, std::chrono::milliseconds(1), std::chrono::milliseconds(20)});
  options.fetch_max_bytes = one_of<std::size_t>(chance, {1U << 10U, 32U << 10U, 55U << 20U});
  options.default_partitions = static_cast<std::int32_t>(chance.between(1, 3));
  options.auto_create_topics = chance.chance(0.5);
  options.max_message_bytes = one_of<std::int32_t>(chance, {4096, 1'048'588, 1'048'588});
  options.log_append_time = chance.chance(0.2);
  return options;
}

std::uint64_t rate(rng& chance, double probability, std::uint64_t low, std::uint64_t high) {
  if (!chance.chance(probability)) return 0;
  return static_cast<std::uint64_t>(chance.between(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
}

fault_rates draw_faults(rng& chance) {
  fault_rates faults;
  faults.crash_between_tasks = rate(chance, 0.5, 4'000, 40'000);
  faults.crash_at_file_operation = rate(chance, 0.6, 4'000, 40'000);
  faults.kill_process = rate(chance, 0.4, 6'000, 40'000);
  faults.clean_stop = rate(chance, 0.4, 6'000, 40'000);
  faults.disk_error = rate(chance, 0.25, 10'000, 50'000);
  faults.full_disk = rate(chance, 0.2, 4'000, 30'000);
  faults.cut_connection = rate(chance, 0.6, 300, 6'000);
  faults.wall_jump = rate(chance, 0.3, 1'000, 20'000);
  faults.change_pace = rate(chance, 0.7, 500, 10'000);
  faults.crash_in_recovery = chance.chance(0.5) ? 0.5 : 0.0;
  return faults;
}

// Mostly everything is kept: what is let go of cannot be checked any more. Segments have to be small for it.
void draw_retention(rng& chance, conditions& drawn) {
  drawn.broker.retention_interval =
      one_of<io::duration>(chance, {std::chrono::milliseconds(100), std::chrono::seconds(1), std::chrono::seconds(20)});
  drawn.broker.retention_ms = -1;
  if (!chance.chance(0.3)) return;
  drawn.broker.log.segments.bytes = one_of<std::uint64_t>(chance, {300, 2U << 10U, 16U << 10U});
  if (chance.chance(0.6)) {
    drawn.kept.size_bytes = one_of<std::uint64_t>(chance, {0, 1'000, 4U << 10U, 32U << 10U});
    drawn.broker.retention_bytes = static_cast<std::int64_t>(*drawn.kept.size_bytes);
  } else {
    drawn.kept.age_ms = one_of<std::int64_t>(chance, {100, 1'000, 10'000, 60'000});
    drawn.broker.retention_ms = *drawn.kept.age_ms;
    drawn.broker.log.segments.ms = one_of<std::int64_t>(chance, {50, 1'000, 604'800'000});
  }
}

// In most runs nobody is idle for a day.
void draw_expiry(rng& chance, server::broker_options& broker) {
  broker.producer_expiry_interval =
      one_of<io::duration>(chance, {std::chrono::milliseconds(100), std::chrono::seconds(1)});
  if (!chance.chance(0.4)) return;
  broker.producer_expiration = std::chrono::milliseconds(one_of(chance, {100, 500, 2'000, 10'000}));
}

// A fault of one of three stops the others for a moment, and each task is of one of three: fewer for each machine.
void draw_cluster(rng& chance, conditions& drawn) {
  fault_rates& of = drawn.faults;
  for (std::uint64_t* rate : {&of.crash_between_tasks, &of.crash_at_file_operation, &of.kill_process, &of.clean_stop,
                              &of.disk_error, &of.full_disk, &of.cut_connection, &of.wall_jump, &of.change_pace}) {
    *rate *= 2 * drawn.brokers;
  }
  drawn.task_time = std::min<io::duration>(drawn.task_time, std::chrono::microseconds(20));
  drawn.between_brokers.stall = rate(chance, 0.7, 5'000, 60'000);
  drawn.between_brokers.cut_connection = rate(chance, 0.5, 2'000, 20'000);
  drawn.between_brokers.longest_stall =
      one_of<io::duration>(chance, {std::chrono::milliseconds(300), std::chrono::seconds(3), std::chrono::seconds(15)});
  of.crash_at_election = chance.chance(0.4) ? 0.3 : 0.0;
  of.pause = rate(chance, 0.5, 20'000, 100'000);
  drawn.longest_pause =
      one_of<io::duration>(chance, {std::chrono::milliseconds(300), std::chrono::seconds(2), std::chrono::seconds(10)});
  // Short ones, and two candidates meet.
  drawn.broker.election_timeout = one_of<io::duration>(
      chance, {std::chrono::milliseconds(100), std::chrono::milliseconds(200), std::chrono::milliseconds(500)});
  drawn.client_patience =
      one_of<io::duration>(chance, {std::chrono::milliseconds(700), std::chrono::seconds(3), std::chrono::seconds(10)});
  if (chance.chance(0.4)) drawn.clock_drift = one_of(chance, {0.001, 0.05, 0.2});
  if (!chance.chance(0.4)) return;
  drawn.messages.loss = one_of(chance, {0.0, 0.01, 0.1});
  drawn.messages.doubling = one_of(chance, {0.0, 0.02, 0.2});
  drawn.messages.delay = one_of(chance, {0.0, 0.02, 0.3});
  drawn.messages.longest_delay = one_of<io::duration>(
      chance, {std::chrono::milliseconds(1), std::chrono::milliseconds(50), std::chrono::seconds(2)});
}

}  // namespace

conditions draw_conditions(rng& chance, std::uint64_t operations, std::size_t brokers) {
  conditions drawn;
  drawn.brokers = brokers;
  drawn.broker = draw_broker(chance);
  drawn.network.largest_piece_bytes = one_of<std::size_t>(chance, {7, 100, 2'000, 64U << 10U, 64U << 10U});
  drawn.network.buffer_bytes = one_of<std::size_t>(chance, {1'000, 64U << 10U, 256U << 10U});
  drawn.network.delay_chance = one_of(chance, {0.0, 0.05, 0.5});
  drawn.faults = draw_faults(chance);
  if (chance.chance(0.3)) drawn.power_cut = power_cut_options::only_synced();
  drawn.task_time = std::chrono::microseconds(one_of(chance, {2, 20, 200, 2'000}));
  drawn.longest_downtime = std::chrono::milliseconds(one_of(chance, {1, 100, 5'000}));
  drawn.longest_thinking = std::chrono::milliseconds(one_of(chance, {1, 10, 100}));
  drawn.wait_for_readiness = chance.chance(0.5);
  drawn.producers = static_cast<int>(chance.between(1, 3));
  drawn.plain_producers = static_cast<int>(chance.between(0, 2));
  drawn.readers = static_cast<int>(chance.between(1, 3));
  drawn.largest_value_bytes = one_of<std::size_t>(chance, {20, 200, 2'000});
  drawn.operations = operations;
  drawn.state_hash_interval = one_of<std::uint64_t>(chance, {1, 1, 3, 16});
  drawn.atomic_producers = static_cast<int>(chance.between(0, 2));
  drawn.session_readers = static_cast<int>(chance.between(0, 2));
  drawn.broker.fetch_sessions.max_sessions = one_of<std::size_t>(chance, {0, 1, 2, 1000});
  drawn.broker.fetch_sessions.max_bytes = one_of<std::size_t>(chance, {1'500, 4'000, 64U << 20U});
  draw_retention(chance, drawn);
  drawn.one_shard = chance.chance(0.5);
  draw_expiry(chance, drawn.broker);
  if (brokers > 1) draw_cluster(chance, drawn);
  return drawn;
}

}  // namespace braidmq::sim

// What this process may use: the limits of its control groups (v1 and v2), of its CPU affinity and of the machine.
// A container is limited by the tightest of all groups above it, so every level is read. Call once, at start.
// Source: kernel documentation, admin-guide/cgroup-v2 (cpu.max, memory.max), cgroup-v1 (cpu.cfs_quota_us,
// memory.limit_in_bytes).
#pragma once

#include <cstdint>
#include <string>

namespace braidmq::runtime {

struct resources {
  double cpus = 1;                 // may be a fraction: 1.5
  std::uint64_t memory_bytes = 0;  // 0: unknown
  bool cpus_limited = false;       // by a control group, not by the machine
  bool memory_limited = false;
};

// `root` stands before every path, for tests with files of their own.
resources read_resources(const std::string& root = "");

// Threads for shards: a whole number of CPUs within the quota and at least one. Rounded down, because a thread beyond
// the quota gets all of them throttled together. `configured` > 0 wins.
unsigned shard_count(const resources& available, unsigned configured);

}  // namespace braidmq::runtime

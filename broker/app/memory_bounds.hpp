// How the bounds of queues follow the memory that the process may use: in a small container the defaults would be
// beyond it. Each queue gets a share; what the configuration allows is never exceeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/resources.hpp"

namespace braidmq::app {

struct memory_bounds {
  std::size_t queue_max_bytes = 0;           // requests that wait for an entry
  std::size_t write_behind_max_bytes = 0;    // applied bytes that wait for segment files
  std::size_t tail_cache_max_bytes = 0;      // written batches of all partitions, for readers at the tail
  std::size_t requests_max_bytes = 0;        // requests of all connections, from their first byte to their answer
  std::size_t answers_max_bytes = 0;         // answers that are made or that wait for their readers
  std::size_t fetch_sessions_max_bytes = 0;  // of all consumers
  std::size_t frame_max_bytes = 0;           // one request: half of what all may take
  std::size_t entry_max_bytes = 0;           // of the log: it is held several times on its way
};

// `wanted`: the defaults and the configuration. Memory that is not known limits nothing.
memory_bounds bound_by_memory(memory_bounds wanted, const runtime::resources& available);

// How many partitions fit beside them.
std::int64_t most_partitions(const runtime::resources& available);

// For the log: "2 CPUs, 512 MiB of memory (limit of the control group)".
std::string to_string(const runtime::resources& available);

}  // namespace braidmq::app

// How the bounds of queues follow the memory that the process may use: in a small container the defaults would be
// beyond it. Each queue gets a share; what the configuration allows is never exceeded.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/resources.hpp"

namespace braidmq::app {

struct memory_bounds {
  std::size_t queue_max_bytes = 0;         // requests that wait for an entry
  std::size_t write_behind_max_bytes = 0;  // applied bytes that wait for segment files
};

// `wanted`: the defaults and the configuration. Memory that is not known limits nothing.
memory_bounds bound_by_memory(memory_bounds wanted, const runtime::resources& available);

// For the log: "2 CPUs, 512 MiB of memory (limit of the control group)".
std::string to_string(const runtime::resources& available);

}  // namespace braidmq::app

// The only source of time below `runtime`. Any thread may call it.
#pragma once

#include <chrono>
#include <cstdint>

namespace braidmq::io {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

class clock {
 public:
  virtual ~clock() = default;

  // Monotonic; the base of every timer and deadline.
  virtual time_point now() const = 0;

  // Milliseconds since 1970-01-01 UTC. May jump in either direction; never used to measure or to wait.
  virtual std::int64_t wall_ms() const = 0;
};

// The clocks of the operating system.
const clock& system_clock();

}  // namespace braidmq::io

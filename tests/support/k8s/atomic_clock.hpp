// A clock that a test moves while other threads read it.
#pragma once

#include <atomic>

#include "io/clock.hpp"

namespace braidmq::k8s::testing {

class atomic_clock final : public io::clock {
 public:
  io::time_point now() const override { return io::time_point(io::duration(elapsed_.load())); }
  std::int64_t wall_ms() const override { return 1'700'000'000'000 + elapsed_.load() / 1'000'000; }
  void advance(io::duration by) { elapsed_ += by.count(); }

 private:
  std::atomic<std::int64_t> elapsed_{1'000'000'000'000};
};

}  // namespace braidmq::k8s::testing

// The clocks of one machine: its monotonic one may go a little too fast or too slow, its wall clock may jump by itself.
#pragma once

#include <cmath>

#include "io/clock.hpp"

namespace braidmq::sim {

class machine_clock final : public io::clock {
 public:
  machine_clock(const io::clock& world, double rate) : world_(world), rate_(rate) {}

  io::time_point now() const override {
    if (rate_ == 1) return world_.now();
    const auto passed = static_cast<double>(world_.now().time_since_epoch().count());
    return io::time_point(io::duration(std::llround(passed * rate_)));
  }
  std::int64_t wall_ms() const override { return world_.wall_ms() + offset_ms_; }

  double rate() const { return rate_; }
  void jump_wall(std::int64_t by_ms) { offset_ms_ += by_ms; }

 private:
  const io::clock& world_;
  double rate_;
  std::int64_t offset_ms_ = 0;
};

}  // namespace braidmq::sim

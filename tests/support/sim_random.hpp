// The chance of tests and of the simulator: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014). The same seed gives the same run on every platform, which std's distributions do not promise.
#pragma once

#include <cstdint>
#include <limits>

#include "base/check.hpp"

namespace braidmq::sim {

class rng {
 public:
  using result_type = std::uint64_t;  // also a UniformRandomBitGenerator, for std::shuffle

  explicit rng(std::uint64_t seed) : state_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  // 0 <= result < bound. The bias of the remainder is below 2^-32 for every bound that a test uses.
  std::uint64_t below(std::uint64_t bound) {
    BRAID_CHECK(bound > 0);
    return (*this)() % bound;
  }
  // low <= result <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool chance(double probability) { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53 < probability; }

  // A generator of its own for a part of the run, so that a change in one part does not shift the other.
  rng split() { return rng((*this)()); }

 private:
  std::uint64_t state_;
};

}  // namespace braidmq::sim

// A random source for the broker's ids that is a function of the seed.
#pragma once

#include "io/random.hpp"
#include "support/sim_random.hpp"

namespace braidmq::sim {

class random_bytes final : public io::random_source {
 public:
  explicit random_bytes(std::uint64_t seed) : chance_(seed) {}

  void fill(mutable_byte_view target) override {
    for (std::byte& one : target) one = static_cast<std::byte>(chance_() & 0xffU);
  }

 private:
  rng chance_;
};

}  // namespace braidmq::sim

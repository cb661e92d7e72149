// Chance that a test decides.
#pragma once

#include <atomic>
#include <cstring>

#include "io/random.hpp"

namespace braidmq::k8s::testing {

class fixed_random final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    const std::uint64_t now = value;
    for (std::size_t i = 0; i < target.size(); ++i) {
      target[i] = static_cast<std::byte>(now >> (8 * (i % 8)));
    }
  }
  std::atomic<std::uint64_t> value{0};
};

}  // namespace braidmq::k8s::testing

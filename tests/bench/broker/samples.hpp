// Durations of one kind, all of them kept: percentiles are exact.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include "io/clock.hpp"

namespace braidmq::bench {

inline double milliseconds(io::duration of) {
  return std::chrono::duration<double, std::milli>(of).count();
}
inline double seconds(io::duration of) {
  return std::chrono::duration<double>(of).count();
}

class samples {
 public:
  void add(io::duration one) {
    all_.push_back(one);
    is_sorted_ = false;
  }
  std::size_t size() const { return all_.size(); }

  // The smallest sample that at least the share `q` (0 to 1) of all do not exceed; zero without samples.
  io::duration at(double q) {
    if (all_.empty()) return {};
    if (!is_sorted_) std::ranges::sort(all_);
    is_sorted_ = true;
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(all_.size())));
    return all_[std::clamp<std::size_t>(rank, 1, all_.size()) - 1];
  }

 private:
  std::vector<io::duration> all_;
  bool is_sorted_ = false;
};

}  // namespace braidmq::bench

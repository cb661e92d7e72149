// A log-linear histogram for hot paths: four buckets per power of two, so that a quantile is at most a quarter too
// high; recording is two additions and a few shifts. Plain counters of one thread; whoever scrapes copies it there (2
// KiB).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace braidmq {

class histogram {
 public:
  void record(std::uint64_t value) {
    ++buckets_[index_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
  }
  void merge(const histogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t max() const { return max_; }

  // A value that at least the share `q` (0 to 1) of the recorded ones does not exceed: the upper edge of its bucket,
  // but never more than max(). 0 when empty.
  std::uint64_t quantile(double q) const {
    const auto wanted = static_cast<std::uint64_t>(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_) + 0.5);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > 0 && seen >= wanted) return std::min(max_, last_value_of(i));
    }
    return max_;
  }

  // How many recorded values are below 2^exponent; exact.
  std::uint64_t count_below_power_of_two(unsigned exponent) const {
    const std::size_t end = exponent >= 64 ? buckets_.size() : index_of(std::uint64_t{1} << exponent);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < end; ++i) seen += buckets_[i];
    return seen;
  }

 private:
  static constexpr unsigned sub_bits = 2;
  static constexpr std::size_t subs = std::size_t{1} << sub_bits;
  static constexpr std::size_t bucket_count = (64 - sub_bits + 1) * subs;

  // Values below 4 have a bucket each; above, the two bits after the highest one choose among four.
  static constexpr std::size_t index_of(std::uint64_t value) {
    if (value < subs) return static_cast<std::size_t>(value);
    const auto highest = static_cast<unsigned>(std::bit_width(value)) - 1;
    const auto sub = (value >> (highest - sub_bits)) & (subs - 1);
    return (highest - sub_bits + 1) * subs + static_cast<std::size_t>(sub);
  }
  static constexpr std::uint64_t last_value_of(std::size_t index) {
    if (index < subs) return index;
    const auto shift = static_cast<unsigned>(index / subs) - 1;
    return (((subs + index % subs) << shift) - 1) + (std::uint64_t{1} << shift);
  }

  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace braidmq

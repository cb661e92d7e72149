#include "base/histogram.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace braidmq {
namespace {

TEST(histogram, is_empty_at_first) {
  const histogram h;
  EXPECT_EQ(h.count(), 0U);
  EXPECT_EQ(h.quantile(0.99), 0U);
  EXPECT_EQ(h.count_below_power_of_two(64), 0U);
}

TEST(histogram, takes_the_smallest_and_the_largest_value) {
  histogram h;
  h.record(0);
  h.record(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(h.quantile(0), 0U);
  EXPECT_EQ(h.quantile(1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(h.count_below_power_of_two(0), 1U);
  EXPECT_EQ(h.count_below_power_of_two(63), 1U);
  EXPECT_EQ(h.count_below_power_of_two(64), 2U);
}

TEST(histogram, quantiles_are_never_too_low_and_at_most_a_quarter_too_high) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    histogram h;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 2000; ++i) {
      values.push_back(random() >> (random() % 60));
      h.record(values.back());
    }
    std::ranges::sort(values);
    for (const double q : {0.01, 0.5, 0.9, 0.99, 1.0}) {
      const auto at = std::max<std::size_t>(1, static_cast<std::size_t>(q * 2000 + 0.5)) - 1;
      const auto exact = values[at];
      EXPECT_GE(h.quantile(q), exact);
      EXPECT_LE(h.quantile(q) - exact, exact / 4) << q << " seed " << seed;
    }
  }
}

TEST(histogram, counts_below_powers_of_two_are_exact) {
  histogram h;
  for (std::uint64_t value = 0; value < 1024; ++value) h.record(value);
  for (unsigned exponent = 0; exponent <= 10; ++exponent) {
    EXPECT_EQ(h.count_below_power_of_two(exponent), std::uint64_t{1} << exponent);
  }
  EXPECT_EQ(h.sum(), 1023U * 1024 / 2);
  EXPECT_EQ(h.max(), 1023U);
}

TEST(histogram, merging_is_recording_all) {
  histogram a;
  histogram b;
  histogram both;
  for (std::uint64_t value = 1; value < 5000; value += 7) {
    (value % 2 == 0 ? a : b).record(value * value);
    both.record(value * value);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.sum(), both.sum());
  EXPECT_EQ(a.max(), both.max());
  for (const double q : {0.1, 0.5, 0.999}) EXPECT_EQ(a.quantile(q), both.quantile(q));
}

}  // namespace
}  // namespace braidmq

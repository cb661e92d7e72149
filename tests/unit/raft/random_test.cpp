#include <gtest/gtest.h>

#include "random_lives.hpp"

namespace braidmq::raft::test {
namespace {

TEST(RaftRandomLives, KeepEveryPromiseAndGoOnWhenAllIsWell) {
  outcome sum;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const outcome one = run_random_lives(seed);
    ASSERT_EQ(one.violation, "") << "seed " << seed;
    sum.committed += one.committed;
    sum.elections += one.elections;
    sum.reads += one.reads;
  }
  // Runs in which nothing happens would prove nothing.
  EXPECT_GE(sum.committed, 10'000U);
  EXPECT_GE(sum.elections, 4'000U);
  EXPECT_GE(sum.reads, 1'500U);
}

TEST(RaftRandomLives, AreAFunctionOfTheSeed) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const outcome one = run_random_lives(seed);
    const outcome again = run_random_lives(seed);
    EXPECT_EQ(one.committed, again.committed);
    EXPECT_EQ(one.elections, again.elections);
    EXPECT_EQ(one.ticks_to_heal, again.ticks_to_heal);
  }
}

// The first violation among some seeds; empty: none.
std::string find(plant what, bool strict, std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const outcome one = run_random_lives(seed, what, strict);
    if (!one.violation.empty()) return one.violation;
  }
  return {};
}

TEST(RaftRandomLives, FindPlantedBugs) {
  const auto names = [](const std::string& violation, const std::string& words) {
    return violation.find(words) != std::string::npos;
  };
  EXPECT_PRED2(names, find(plant::own_vote_early, true, 50), "leads by an own vote that a crash would forget");
  EXPECT_PRED2(names, find(plant::vote_not_persisted, true, 50), "starts without its vote");
  EXPECT_PRED2(names, find(plant::old_terms_counted, true, 100), "of an older term by counting");
  EXPECT_PRED2(names, find(plant::early_report, true, 50), "that a crash would forget");
  // Without a look at the promise itself: by what comes of it.
  EXPECT_NE(find(plant::early_report, false, 100), "");
}

}  // namespace
}  // namespace braidmq::raft::test

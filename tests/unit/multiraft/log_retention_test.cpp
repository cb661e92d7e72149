#include "multiraft/log_retention.hpp"

#include <gtest/gtest.h>

namespace braidmq::multiraft {
namespace {

raft::index at(std::uint64_t index) {
  return raft::index(index);
}

TEST(log_retention, with_one_voter_a_checkpoint_is_all_that_is_needed) {
  log_retention one(1, 1'000);
  EXPECT_EQ(one.dispensable(0, std::nullopt), at(0));
  one.checkpointed(at(10), 500);
  EXPECT_EQ(one.dispensable(500, std::nullopt), at(10));
}

TEST(log_retention, what_somebody_lacks_stays_and_the_entry_before_it) {
  log_retention three(3, 1'000);
  three.checkpointed(at(10), 100);
  EXPECT_EQ(three.dispensable(100, std::nullopt), at(0));
  EXPECT_EQ(three.dispensable(100, at(0)), at(0));
  EXPECT_EQ(three.dispensable(100, at(7)), at(6));
  // Never beyond the checkpoint.
  EXPECT_EQ(three.dispensable(100, at(50)), at(9));
}

TEST(log_retention, beyond_the_bound_goes_what_lies_before_a_checkpoint_that_far_back) {
  log_retention three(3, 1'000);
  three.checkpointed(at(10), 100);
  three.checkpointed(at(20), 600);
  three.checkpointed(at(30), 1'200);
  EXPECT_EQ(three.dispensable(1'099, std::nullopt), at(0));
  EXPECT_EQ(three.dispensable(1'100, std::nullopt), at(9));
  EXPECT_EQ(three.dispensable(1'700, std::nullopt), at(19));
  EXPECT_EQ(three.dispensable(1'700, at(25)), at(24));
  EXPECT_EQ(three.dispensable(9'000, at(0)), at(29));
}

}  // namespace
}  // namespace braidmq::multiraft

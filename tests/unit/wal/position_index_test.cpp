#include "wal/position_index.hpp"

#include <gtest/gtest.h>

namespace braidmq::wal {
namespace {

constexpr raft::group_id group(3);
raft::index at(std::uint64_t i) {
  return raft::index(i);
}
group_place place(std::uint64_t position) {
  return {1, position, 4096};
}

TEST(PositionIndex, FindsTheRunOfAnIndexAndThoseAfterIt) {
  position_index index;
  index.add(group, at(1), at(5), place(4096));
  index.add(group, at(6), at(6), place(8192));
  index.add(group, at(7), at(9), place(12288));
  EXPECT_EQ(index.run_count(), 3U);
  EXPECT_EQ(index.first(group), at(1));
  const auto two = index.find(group, at(6), 8192);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].place.position, 8192U);
  EXPECT_EQ(index.find(group, at(3), 1).size(), 1U);
  EXPECT_EQ(index.find(group, at(1), 1U << 30U).size(), 3U);
  EXPECT_TRUE(index.find(group, at(10), 1).empty());
  EXPECT_TRUE(index.find(group, at(0), 1).empty());
  EXPECT_TRUE(index.find(raft::group_id(4), at(1), 1).empty());
  EXPECT_EQ(index.first(raft::group_id(4)), at(0));
}

TEST(PositionIndex, ReplacesFromTheFirstNewIndexOn) {
  position_index index;
  index.add(group, at(1), at(5), place(4096));
  index.add(group, at(6), at(9), place(8192));
  index.add(group, at(4), at(4), place(12288));
  const auto runs = index.find(group, at(1), 1U << 30U);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].last, at(3));
  EXPECT_EQ(runs[1], (position_index::run{at(4), at(4), place(12288)}));
  index.add(group, at(1), at(2), place(16384));
  EXPECT_EQ(index.run_count(), 1U);
}

TEST(PositionIndex, KeepsOneRunForTheItemsOfOneWrite) {
  position_index index;
  index.add(group, at(1), at(2), place(4096));
  index.add(group, at(3), at(4), place(4096));
  index.add(group, at(4), at(6), place(4096));
  const auto runs = index.find(group, at(1), 1U << 30U);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].last, at(6));
}

TEST(PositionIndexDeathTest, AGapStopsTheProcess) {
  position_index index;
  index.add(group, at(1), at(2), place(4096));
  EXPECT_DEATH(index.add(group, at(4), at(4), place(8192)), "missing");
}

}  // namespace
}  // namespace braidmq::wal

#include "multiraft/entry_tail.hpp"

#include <gtest/gtest.h>

namespace braidmq::multiraft {
namespace {

raft::entry entry(std::uint64_t index, std::string_view payload) {
  return {raft::term(1), raft::index(index), raft::entry_kind::command, bytes::copy_of(payload)};
}

TEST(EntryTail, HoldsAStretchAndCountsItsBytes) {
  entry_tail tail;
  EXPECT_FALSE(tail.holds(raft::index(0)));
  tail.append({entry(5, "five"), entry(6, ""), entry(7, "seven")});
  EXPECT_FALSE(tail.holds(raft::index(4)));
  EXPECT_TRUE(tail.holds(raft::index(5)));
  EXPECT_FALSE(tail.holds(raft::index(8)));
  EXPECT_EQ(tail.at(raft::index(7)), entry(7, "seven"));
  EXPECT_EQ(tail.size_bytes(), 9 + 3 * sizeof(raft::entry));
  tail.drop_through(raft::index(6));
  EXPECT_EQ(tail.size_bytes(), 5 + sizeof(raft::entry));
  EXPECT_FALSE(tail.holds(raft::index(6)));
  tail.drop_through(raft::index(9));
  EXPECT_EQ(tail.size_bytes(), 0U);
}

TEST(EntryTail, ANewEntryReplacesAllFromItsIndexOn) {
  entry_tail tail;
  tail.append({entry(1, "one"), entry(2, "two"), entry(3, "three")});
  tail.append({entry(2, "TWO")});
  EXPECT_FALSE(tail.holds(raft::index(3)));
  EXPECT_EQ(tail.at(raft::index(2)), entry(2, "TWO"));
  EXPECT_EQ(tail.size_bytes(), 6 + 2 * sizeof(raft::entry));
}

TEST(EntryTailDeathTest, GapsStopTheProcess) {
  entry_tail tail;
  tail.append({entry(1, "")});
  EXPECT_DEATH(tail.append({entry(3, "")}), "entry 3 after 1");
  EXPECT_DEATH((void)tail.at(raft::index(2)), "not in memory");
}

}  // namespace
}  // namespace braidmq::multiraft

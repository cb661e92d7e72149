#include "raft/pending_writes.hpp"

#include <gtest/gtest.h>

namespace braidmq::raft {
namespace {

TEST(RaftPendingWrites, ReplacedEntriesDoNotCount) {
  pending_writes writes;
  writes.add(index(8), term(1), term(1), {});
  writes.truncated(index(6));
  writes.add(index(7), term(2), term(2), {});
  EXPECT_EQ(writes.done(index(8), term(1)).valid, index(5));
  EXPECT_EQ(writes.done(index(7), term(2)).valid, index(7));
  EXPECT_TRUE(writes.empty());
}

TEST(RaftPendingWrites, ALaterCutAboveAnEarlierOneChangesNothingMore) {
  pending_writes writes;
  writes.add(index(8), term(1), term(1), {});
  writes.truncated(index(3));
  writes.truncated(index(6));
  EXPECT_EQ(writes.done(index(8), term(1)).valid, index(2));
}

TEST(RaftPendingWritesDeathTest, ReportsComeInOrder) {
  pending_writes writes;
  EXPECT_DEATH(writes.done(index(1), term(1)), "not handed out");
  writes.add(index(1), term(1), term(1), {});
  writes.add(index(2), term(1), term(1), {});
  EXPECT_DEATH(writes.done(index(2), term(1)), "in turn was 1");
}

}  // namespace
}  // namespace braidmq::raft

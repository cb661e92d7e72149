#include "raft/progress.hpp"

#include <gtest/gtest.h>

namespace braidmq::raft {
namespace {

progress fresh(std::uint64_t next) {
  progress p(node_id{2, {}});
  p.reset(index(next));
  return p;
}

bool may_send(const progress& p, std::uint64_t last) {
  return p.may_send(index(last), 2, 100);
}

TEST(RaftProgress, ProbesOneAtATimeThenStreams) {
  progress p = fresh(5);
  EXPECT_TRUE(may_send(p, 4)) << "a probe may be empty";
  p.sent(index(6), 10, index(0));
  EXPECT_FALSE(may_send(p, 9));
  EXPECT_EQ(p.next(), index(5));
  EXPECT_TRUE(p.accepted(index(6)));
  EXPECT_EQ(p.current(), progress::state::replicate);
  EXPECT_EQ(p.next(), index(7));
  EXPECT_FALSE(may_send(p, 6));
  EXPECT_TRUE(may_send(p, 7));
}

TEST(RaftProgress, TheWindowIsBoundedInCountAndBytes) {
  progress p = fresh(1);
  (void)p.accepted(index(0));
  p.sent(index(1), 10, index(0));
  p.sent(index(2), 10, index(0));
  EXPECT_FALSE(may_send(p, 3)) << "two are under way";
  EXPECT_TRUE(p.accepted(index(1)));
  EXPECT_TRUE(may_send(p, 3));
  p.sent(index(3), 500, index(0));
  EXPECT_TRUE(p.accepted(index(2)));
  EXPECT_FALSE(may_send(p, 4)) << "too many bytes are under way";
  EXPECT_TRUE(p.accepted(index(3)));
  EXPECT_TRUE(may_send(p, 4)) << "with nothing under way one append of any size may leave";
  EXPECT_FALSE(p.accepted(index(2)));
  EXPECT_EQ(p.match(), index(3));
}

TEST(RaftProgress, OldRejectionsAreNoNews) {
  progress p = fresh(8);
  EXPECT_FALSE(p.is_news(index(7))) << "nothing was asked";
  p.sent(index(7), 0, index(0));
  EXPECT_FALSE(p.is_news(index(6)));
  EXPECT_TRUE(p.is_news(index(7)));
  p.become_probe(index(4));
  p.sent(index(3), 0, index(0));
  (void)p.accepted(index(5));
  EXPECT_FALSE(p.is_news(index(5)));
  EXPECT_TRUE(p.is_news(index(6)));
  p.become_probe(index(2));
  EXPECT_EQ(p.next(), index(6)) << "never below what it has";
}

TEST(RaftProgress, LooksForALostAppendWhenTwoHeartbeatsFindItWhereItWas) {
  progress p = fresh(1);
  (void)p.accepted(index(1));
  p.sent(index(2), 10, index(0));
  p.answered_heartbeat(index(2));
  EXPECT_FALSE(p.must_ping());
  p.answered_heartbeat(index(2));
  EXPECT_TRUE(p.must_ping());
  (void)p.accepted(index(2));
  p.answered_heartbeat(index(2));
  EXPECT_FALSE(p.must_ping());
}

TEST(RaftProgress, RepeatsAProbeThatTwoHeartbeatsLeaveUnanswered) {
  progress p = fresh(4);
  p.sent(index(3), 0, index(0));
  p.answered_heartbeat(index(3));
  EXPECT_FALSE(may_send(p, 3));
  p.answered_heartbeat(index(3));
  EXPECT_TRUE(may_send(p, 3));
  p.sent(index(3), 0, index(0));
  p.answered_heartbeat(index(3));
  EXPECT_FALSE(may_send(p, 3)) << "each one has its own time";
}

TEST(RaftProgress, SendsNothingWhileASnapshotOrEntriesAreOnTheirWay) {
  progress p = fresh(3);
  p.become_snapshot();
  EXPECT_FALSE(may_send(p, 9));
  EXPECT_FALSE(p.owes_commit(index(9)));
  p.become_probe(index(8));
  p.wait_for_entries(4);
  EXPECT_FALSE(may_send(p, 9));
  p.entries_came();
  EXPECT_TRUE(may_send(p, 9));
}

TEST(RaftProgress, OwesCommitOnlyUpToWhatIsThere) {
  progress p = fresh(1);
  (void)p.accepted(index(4));
  EXPECT_TRUE(p.owes_commit(index(9)));
  EXPECT_EQ(p.commit_for(index(9)), index(4));
  p.told_commit(index(4));
  EXPECT_FALSE(p.owes_commit(index(9)));
}

}  // namespace
}  // namespace braidmq::raft

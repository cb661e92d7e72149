#include "raft/node.hpp"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace braidmq::raft {
namespace {

node_id broker(std::int32_t id, std::uint8_t life = 1) {
  node_id result{id, {}};
  result.incarnation.octets[0] = life;
  return result;
}

config single() {
  return {.self = broker(1), .voters = {broker(1)}};
}

node leader_of_empty_log() {
  node n = *node::create(single(), {});
  n.campaign();
  (void)n.take_ready();
  n.persisted(index(0), term(0));
  return n;
}

TEST(RaftNode, RefusesOtherMembershipsInWords) {
  config crowd = single();
  for (std::int32_t id = 2; id <= 16; ++id) crowd.voters.push_back(broker(id));
  const auto many = node::create(crowd, {});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, errc::unsupported_membership);
  EXPECT_NE(many.error().message.find("16 voters; at most 15"), std::string::npos);

  config twice = single();
  twice.voters.push_back(broker(2, 1));
  twice.voters.push_back(broker(2, 2));
  EXPECT_NE(node::create(twice, {}).error().message.find("twice"), std::string::npos);

  config none = single();
  none.voters.clear();
  EXPECT_EQ(node::create(none, {}).error().code, errc::unsupported_membership);

  config other = single();
  other.voters = {broker(2)};
  EXPECT_NE(node::create(other, {}).error().message.find("not this node"), std::string::npos);
}

// Reliability list, 7.7: a wiped disk under the old broker id is another node.
TEST(RaftNode, RefusesTheVoterOfAnEarlierLife) {
  config wiped = single();
  wiped.self = broker(1, 2);
  const auto made = node::create(wiped, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unsupported_membership);
  EXPECT_NE(made.error().message.find("formatted again"), std::string::npos);
}

TEST(RaftNode, RefusesStatesThatCannotBe) {
  const auto code = [](restored from) { return node::create(single(), from).error().code; };
  const hard_state state{term(3), broker(1), index(0)};
  EXPECT_EQ(code({.state = state, .last_index = index(1)}), errc::contradictory_state);
  EXPECT_EQ(code({.state = state, .last_index = index(1), .last_term = term(4)}), errc::contradictory_state);
  EXPECT_EQ(code({.state = {term(3), {}, index(2)}, .last_index = index(1), .last_term = term(3)}),
            errc::contradictory_state);
  EXPECT_EQ(code({.state = state, .last_index = index(1), .last_term = term(3), .applied = index(2)}),
            errc::contradictory_state);
}

TEST(RaftNode, NeedsTheTermsOfItsLogAmongOthers) {
  config three = single();
  three.voters = {broker(1), broker(2), broker(3)};
  const auto words = [&](std::vector<term_run> terms, index commit = index(4)) {
    const auto made = node::create(
        three,
        {.state = {term(3), {}, commit}, .last_index = index(9), .last_term = term(3), .terms = std::move(terms)});
    return made ? std::string() : made.error().to_string();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, words({}), "not known");
  EXPECT_PRED2(has, words({{index(1), term(1)}, {index(1), term(3)}}), "entries from 1 on are of term 3");
  EXPECT_PRED2(has, words({{index(1), term(1)}}), "its terms with 1 of term 1");
  EXPECT_PRED2(has, words({{index(5), term(2)}, {index(8), term(3)}}), "from entry 5 on, 4 are committed");
  EXPECT_EQ(words({{index(4), term(2)}, {index(8), term(3)}}), "");
  EXPECT_EQ(words({{index(1), term(3)}}, index(0)), "");
}

// Reliability list, 7.6: the vote is durable before it counts.
TEST(RaftNode, LeadsOnlyOnceItsVoteIsDurable) {
  node n = *node::create(single(), {});
  n.campaign();
  EXPECT_EQ(n.current_role(), role::candidate);
  const ready vote = n.take_ready();
  ASSERT_TRUE(vote.state);
  EXPECT_EQ(vote.state->term, term(1));
  EXPECT_EQ(vote.state->vote, broker(1));
  EXPECT_EQ(n.current_role(), role::candidate);
  EXPECT_EQ(n.propose({}).error().code, errc::not_leader);
  n.campaign();  // no second vote while the first is on its way
  EXPECT_FALSE(n.has_ready());
  n.persisted(index(0), term(0));
  EXPECT_EQ(n.current_role(), role::leader);
  EXPECT_EQ(n.leader(), broker(1));
}

// 7.3: nothing is served before an entry of the own term is applied.
TEST(RaftNode, ServesOnlyAfterItsOwnTermIsApplied) {
  node n =
      *node::create(single(), {.state = {term(4), broker(1), index(7)}, .last_index = index(9), .last_term = term(4)});
  EXPECT_EQ(n.take_ready().commit, index(7));
  n.applied(index(7));
  n.campaign();
  (void)n.take_ready();
  n.persisted(index(9), term(4));
  // 7.2: entries 8 and 9 of the older term are durable on the whole "majority", and still wait for an own entry.
  EXPECT_EQ(n.commit_index(), index(7));
  const ready noop = n.take_ready();
  ASSERT_EQ(noop.entries.size(), 1U);
  EXPECT_EQ(noop.entries[0].kind, entry_kind::noop);
  EXPECT_EQ(noop.entries[0].term, term(5));
  n.persisted(index(10), term(5));
  EXPECT_EQ(n.take_ready().commit, index(10));
  n.applied(index(9));
  EXPECT_FALSE(n.serves());
  n.applied(index(10));
  EXPECT_TRUE(n.serves());
}

TEST(RaftNode, CommitMovesWithEachPersistAndAsksForNoWriteOfItsOwn) {
  node n = leader_of_empty_log();
  (void)n.take_ready();  // the no-op
  ASSERT_EQ(n.propose(bytes::copy_of("a")).value(), index(2));
  const ready second = n.take_ready();
  ASSERT_EQ(n.propose(bytes::copy_of("b")).value(), index(3));
  const ready third = n.take_ready();
  EXPECT_EQ(third.commit, index(0));
  n.persisted(index(1), term(1));
  n.persisted(index(2), term(1));
  const ready moved = n.take_ready();
  EXPECT_FALSE(needs_persisting(moved));
  EXPECT_EQ(moved.commit, index(2));
  EXPECT_FALSE(n.has_ready());
  n.persisted(index(3), term(1));
  EXPECT_EQ(n.take_ready().commit, index(3));
}

TEST(RaftNode, DrawsItsTimeoutFromTheSeed) {
  const auto ticks_to_candidacy = [](std::uint64_t seed) {
    config c = single();
    c.seed = seed;
    node n = *node::create(c, {});
    int ticks = 0;
    while (n.current_role() == role::follower) {
      n.tick();
      ++ticks;
    }
    return ticks;
  };
  std::vector<int> seen;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    const int ticks = ticks_to_candidacy(seed);
    EXPECT_GE(ticks, 10);
    EXPECT_LT(ticks, 20);
    EXPECT_EQ(ticks, ticks_to_candidacy(seed));
    seen.push_back(ticks);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 3);
}

TEST(RaftNodeDeathTest, BrokenProtocolOfTheDriverStopsTheProcess) {
  node n = leader_of_empty_log();
  EXPECT_DEATH(n.persisted(index(1), term(1)), "not handed out");
  (void)n.take_ready();
  EXPECT_DEATH(n.persisted(index(2), term(1)), "in turn was 1");
  EXPECT_DEATH(n.applied(index(1)), "commit is 0");
  n.persisted(index(1), term(1));
  EXPECT_DEATH(n.applied(index(1)), "commit is 0");  // known to the node, not yet handed to the driver
  (void)n.take_ready();
  n.applied(index(1));
  EXPECT_DEATH(n.applied(index(0)), "after 1");
}

// Reliability list, 7.11: a committed entry is never replaced; who is told to must not go on.
TEST(RaftNodeDeathTest, ALeaderThatContradictsACommittedEntryStopsTheProcess) {
  config three = single();
  three.voters = {broker(1), broker(2), broker(3)};
  node n = *node::create(three, {.state = {term(2), {}, index(2)},
                                 .last_index = index(3),
                                 .last_term = term(2),
                                 .terms = {{index(1), term(1)}, {index(2), term(2)}}});
  const auto from_leader = [](std::uint64_t prev, std::uint64_t prev_term, std::uint64_t entry_term) {
    return message{
        broker(2), broker(1), term(5),
        append_request{
            index(prev), term(prev_term), index(0), {{term(entry_term), index(prev + 1), entry_kind::command, {}}}}};
  };
  EXPECT_DEATH(n.step(from_leader(1, 1, 3)), "entry 2 of term 2 is committed, the leader of term 5 has one of term 3");
  n.step(from_leader(2, 2, 3));
  EXPECT_EQ(n.last_term(), term(3)) << "what is not committed is replaced";
}

// A flood of requests while a write is under way holds one answer for each peer.
TEST(RaftNode, AnswersThatWaitForTheDiskAreBounded) {
  config three = single();
  three.voters = {broker(1), broker(2), broker(3)};
  node n = *node::create(three, {});
  for (int i = 0; i < 1000; ++i) {
    n.step({broker(2), broker(1), term(4), vote_request{}});
    n.step({broker(2), broker(1), term(4), heartbeat{}});
  }
  const ready write = n.take_ready();
  EXPECT_TRUE(write.messages.empty());
  n.persisted(index(0), term(0));
  EXPECT_EQ(n.take_ready().messages.size(), 2U);
}

TEST(RaftNode, ALogOfVeryManyLeadersForgetsTheTermsOfTheOldest) {
  config three = single();
  three.voters = {broker(1), broker(2), broker(3)};
  restored many{.state = {term(5000), {}, index(5000)}, .last_index = index(5000), .last_term = term(5000)};
  for (std::uint64_t i = 1; i <= 5000; ++i) many.terms.push_back({index(i), term(i)});
  node n = *node::create(three, many);
  n.step({broker(2), broker(1), term(6000),
          append_request{index(5000), term(5000), index(5000), {{term(6000), index(5001), entry_kind::noop, {}}}}});
  EXPECT_LE(n.log().terms().size(), 4096U);
  EXPECT_EQ(n.log().term_at(index(5000)), term(5000));
}

// Any interleaving of proposals, writes and power cuts: what was committed stays, in order, and commit never falls.
TEST(RaftNode, RandomLivesKeepEveryCommittedEntry) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<entry> disk;
    std::vector<entry> committed;
    hard_state stored;
    for (int life = 0; life < 6; ++life) {
      restored from{.state = stored};
      if (!disk.empty()) from.last_index = disk.back().index, from.last_term = disk.back().term;
      node n = *node::create(single(), from);
      std::deque<std::pair<ready, std::pair<index, term>>> writes;
      index commit;
      n.campaign();
      for (unsigned steps = 5 + random() % 60; steps > 0; --steps) {
        switch (random() % 3) {
          case 0:
            (void)n.propose(bytes::copy_of(std::to_string(random())));
            break;
          case 1:
            if (n.has_ready()) {
              ready r = n.take_ready();
              ASSERT_GE(r.commit, commit);
              commit = r.commit;
              if (needs_persisting(r)) writes.push_back({std::move(r), {n.last_index(), n.last_term()}});
            }
            break;
          default:
            if (!writes.empty()) {
              auto [r, last] = std::move(writes.front());
              writes.pop_front();
              if (r.state) stored = *r.state;
              disk.insert(disk.end(), r.entries.begin(), r.entries.end());
              n.persisted(last.first, last.second);
            }
        }
        ASSERT_LE(n.commit_index().value(), disk.size());
        while (committed.size() < n.commit_index().value()) committed.push_back(disk[committed.size()]);
        for (std::size_t i = 0; i < committed.size(); ++i) ASSERT_EQ(committed[i], disk[i]);
      }
    }
    ASSERT_FALSE(committed.empty());
  }
}

}  // namespace
}  // namespace braidmq::raft

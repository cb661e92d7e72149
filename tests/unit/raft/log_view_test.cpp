#include "raft/log_view.hpp"

#include <gtest/gtest.h>

#include "raft/config.hpp"

namespace braidmq::raft {
namespace {

entry entry_of(std::uint64_t of_term, std::uint64_t at) {
  return {term(of_term), index(at), entry_kind::command, bytes::copy_of("xx")};
}

// Entries 1, 2 of term 1, 3 to 5 of term 3, 6 to 9 of term 4.
log_view three_leaders() {
  return {{{index(1), term(1)}, {index(3), term(3)}, {index(6), term(4)}}, index(9), term(4)};
}

TEST(RaftLogView, KnowsTheTermOfEveryEntry) {
  const log_view log = three_leaders();
  EXPECT_EQ(log.term_at(index(0)), term(0));
  EXPECT_EQ(log.term_at(index(2)), term(1));
  EXPECT_EQ(log.term_at(index(3)), term(3));
  EXPECT_EQ(log.term_at(index(9)), term(4));
  EXPECT_EQ(log.term_at(index(10)), std::nullopt);
  EXPECT_EQ(log_view({}, index(0), term(0)).term_at(index(0)), term(0));
  EXPECT_EQ(log_view({}, index(7), term(2)).term_at(index(6)), std::nullopt);
}

TEST(RaftLogView, FindsTheLastEntryOfATermOrAnOlderOne) {
  const log_view log = three_leaders();
  EXPECT_EQ(log.last_of_term(index(8), term(4)), index(8));
  EXPECT_EQ(log.last_of_term(index(8), term(3)), index(5));
  EXPECT_EQ(log.last_of_term(index(8), term(2)), index(2));
  EXPECT_EQ(log.last_of_term(index(4), term(9)), index(4));
  EXPECT_EQ(log.last_of_term(index(99), term(9)), index(9));
  EXPECT_EQ(log.last_of_term(index(9), term(0)), index(0));
  EXPECT_EQ(log_view({{index(5), term(3)}}, index(9), term(3)).last_of_term(index(9), term(2)), std::nullopt);
}

TEST(RaftLogView, ATruncationTakesNewEntriesAndRuns) {
  log_view log = three_leaders();
  log.append(entry_of(5, 10));
  log.append(entry_of(5, 11));
  EXPECT_EQ(log.take_new().size(), 2U);
  log.append(entry_of(6, 12));
  log.truncate(index(11));
  EXPECT_FALSE(log.has_new());
  EXPECT_EQ(log.last_term(), term(5));
  log.truncate(index(6));
  EXPECT_EQ(log.last(), index(5));
  EXPECT_EQ(log.last_term(), term(3));
  EXPECT_EQ(log.memory_bytes(), 0U);
  log.append(entry_of(7, 6));
  const auto taken = log.take_new();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front().index, index(6));
}

TEST(RaftLogView, KeepsWhatIsNotDurableWhateverItsSize) {
  log_view log({}, index(0), term(0));
  for (std::uint64_t at = 1; at <= 6; ++at) log.append(entry_of(1, at));
  log.release(index(6), 0);
  EXPECT_EQ(log.first_in_memory(), index(1)) << "not even given to the driver";
  (void)log.take_new();
  log.release(index(4), 0);
  EXPECT_EQ(log.first_in_memory(), index(5));
  log.release(index(5), entry_cost(entry_of(1, 1)));
  EXPECT_EQ(log.first_in_memory(), index(6));
  log.release(index(6), entry_cost(entry_of(1, 1)));
  EXPECT_EQ(log.first_in_memory(), index(6));
  EXPECT_EQ(log.copy(index(6), 0).size(), 1U);
}

TEST(RaftLogView, ForgetsTermsAndKeepsTheOneItAnchorsOn) {
  log_view log = three_leaders();
  log.forget(index(4));
  EXPECT_EQ(log.first_known(), index(4));
  EXPECT_EQ(log.term_at(index(4)), term(3));
  EXPECT_EQ(log.term_at(index(3)), std::nullopt);
  log.forget(index(2));
  EXPECT_EQ(log.first_known(), index(4));
  log.forget(index(9));
  EXPECT_EQ(log.terms(), (std::vector<term_run>{{index(9), term(4)}}));
}

}  // namespace
}  // namespace braidmq::raft

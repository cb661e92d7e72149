// Counts of refused atomic writes, and how few of them are told.
#include "server/atomic_refusals.hpp"

#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/errors.hpp"
#include "server/atomic_produce.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class AtomicRefusalsTest : public ::testing::Test {
 protected:
  void add(io::duration at, refusal_reason reason = refusal_reason::sequence) {
    refusals_.add(reason, "client 'c' at 10.0.0.7:1", "a gap", io::time_point(at));
  }

  std::vector<std::string> told_;
  atomic_refusals refusals_{[this](const std::string& what) { told_.push_back(what); }};
};

TEST_F(AtomicRefusalsTest, AreAllCountedAndOneInTenSecondsIsTold) {
  add(1s);
  add(1s, refusal_reason::unknown_topic);
  add(10'999ms);
  EXPECT_THAT(told_, ElementsAre("atomic write of client 'c' at 10.0.0.7:1 refused (sequence): a gap"));
  add(11s, refusal_reason::too_large);
  add(12s);
  add(100s);
  EXPECT_THAT(told_,
              ElementsAre(::testing::_,
                          "atomic write of client 'c' at 10.0.0.7:1 refused (too_large): a gap; 2 more since the line "
                          "before",
                          "atomic write of client 'c' at 10.0.0.7:1 refused (sequence): a gap; 1 more since the line "
                          "before"));
  EXPECT_EQ(refusals_.count(refusal_reason::sequence), 4U);
  EXPECT_EQ(refusals_.count(refusal_reason::unknown_topic), 1U);
  EXPECT_EQ(refusals_.count(refusal_reason::too_large), 1U);
  EXPECT_EQ(refusals_.count(refusal_reason::other), 0U);
}

TEST_F(AtomicRefusalsTest, SayNoMoreThanALineHoldsHoweverMuchAClientSays) {
  refusals_.add(refusal_reason::other, std::string(100'000, 'w'), std::string(100'000, 'y'), io::time_point(1s));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_LT(told_[0].size(), 800U);
}

TEST_F(AtomicRefusalsTest, NobodyHasToListen) {
  atomic_refusals deaf(nullptr);
  deaf.add(refusal_reason::other, "", "", io::time_point(1s));
  EXPECT_EQ(deaf.count(refusal_reason::other), 1U);
}

TEST(RefusalReason, EachCodeOfACulpritHasOneOfFewNames) {
  std::set<std::string_view> names;
  for (const protocol::error_info& info : protocol::all_errors()) {
    const std::string_view name = to_string(reason_of(culprit_code(info.code)));
    EXPECT_NE(name, "sequence") << info.name;
    names.insert(name);
  }
  EXPECT_EQ(to_string(reason_of(protocol::error_code::operation_not_attempted)), "sequence");
  EXPECT_EQ(names.size(), refusal_reason_count - 1) << "all but that one";
}

}  // namespace
}  // namespace braidmq::server

#include "protocol/errors.hpp"

#include <gtest/gtest.h>

#include "protocol/errc.hpp"

namespace braidmq::protocol {
namespace {

TEST(errors, holds_every_code_of_kafka_4_4_without_a_gap) {
  ASSERT_EQ(all_errors().size(), 138U);
  for (std::size_t i = 0; i < all_errors().size(); ++i) {
    EXPECT_EQ(static_cast<int>(all_errors()[i].code), static_cast<int>(i) - 1);
    EXPECT_FALSE(all_errors()[i].text.empty());
  }
}

TEST(errors, names_are_kafkas) {
  EXPECT_EQ(to_string(error_code::none), "NONE");
  EXPECT_EQ(to_string(error_code{6}), "NOT_LEADER_OR_FOLLOWER");
  EXPECT_EQ(to_string(error_code{-1}), "UNKNOWN_SERVER_ERROR");
  EXPECT_EQ(error_code::rebootstrap_required, error_code{129});
}

TEST(errors, retriable_ones_are_known) {
  EXPECT_TRUE(is_retriable(error_code::not_leader_or_follower));
  EXPECT_TRUE(is_retriable(error_code::concurrent_transactions));
  EXPECT_FALSE(is_retriable(error_code::producer_fenced));
  EXPECT_FALSE(is_retriable(error_code::none));
}

TEST(errors, unknown_codes_are_survived) {
  EXPECT_EQ(find_error(error_code{999}), nullptr);
  EXPECT_EQ(to_string(error_code{999}), "ERROR_999");
  EXPECT_FALSE(is_retriable(error_code{-7}));
  EXPECT_FALSE(error_text(error_code{999}).empty());
}

TEST(errc, codes_have_words_of_their_own) {
  EXPECT_EQ(make_error_code(errc::truncated).message(), "input ends inside a value");
  EXPECT_NE(make_error_code(errc::malformed), make_error_code(errc::truncated));
}

}  // namespace
}  // namespace braidmq::protocol

#include "base/result.hpp"

#include <gtest/gtest.h>

#include "base/strong_id.hpp"

namespace braidmq {
namespace {

result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return fail(std::make_error_code(std::errc::invalid_argument), std::string("digit ") + c);
  return c - '0';
}

result<int> sum(char a, char b) {
  BRAID_TRY(x, parse_digit(a));
  BRAID_TRY(y, parse_digit(b));
  return x + y;
}

TEST(Result, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(sum('2', '3').value(), 5);
  const auto bad = sum('2', 'x');
  ASSERT_FALSE(bad);
  EXPECT_EQ(with_context(bad.error(), "line 3").to_string(), "line 3: digit x: Invalid argument");
}

TEST(StrongId, CountsAndCompares) {
  using meters = strong_id<struct meters_tag, long>;
  static_assert(!std::is_convertible_v<meters, long>);
  static_assert(!std::is_convertible_v<long, meters>);
  meters a(3);
  EXPECT_EQ((a + 4).value(), 7);
  EXPECT_EQ(meters(9) - a, 6);
  EXPECT_LT(a, meters(4));
  EXPECT_EQ(fmt::format("{}", ++a), "4");
}

}  // namespace
}  // namespace braidmq

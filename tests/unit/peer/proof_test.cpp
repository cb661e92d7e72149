#include "peer/proof.hpp"

#include <gtest/gtest.h>

namespace braidmq::peer {
namespace {

const std::string shorter(32, 'a');
const std::string longer(40, 'b');

TEST(proofs, hold_for_what_was_said_by_whom_under_which_secret) {
  const secrets known({shorter, longer});
  ASSERT_EQ(known.names().size(), 2U);
  EXPECT_NE(known.names()[0], known.names()[1]);
  const bytes hello = bytes::copy_of("hello");
  const bytes answer = bytes::copy_of("answer");
  const proof made = known.prove(known.names()[0], side::took, {hello.view(), answer.view()});
  const auto holds = [&](std::int64_t name, side who, std::initializer_list<byte_view> said) {
    return known.holds(name, who, said, made);
  };
  EXPECT_TRUE(holds(known.names()[0], side::took, {hello.view(), answer.view()}));
  EXPECT_FALSE(holds(known.names()[1], side::took, {hello.view(), answer.view()}));
  EXPECT_FALSE(holds(known.names()[0], side::opened, {hello.view(), answer.view()}));
  EXPECT_FALSE(holds(known.names()[0], side::took, {answer.view(), hello.view()}));
  const bytes joined = bytes::copy_of("helloanswer");
  EXPECT_FALSE(holds(known.names()[0], side::took, {joined.view()})) << "where a part ends counts";
  EXPECT_FALSE(known.holds(known.names()[0], side::took, {hello.view()}, byte_view(made).first(31)));
}

TEST(proofs, the_first_common_secret_of_ours_is_taken) {
  const secrets ours({shorter, longer});
  const secrets theirs({longer, std::string(32, 'c')});
  EXPECT_EQ(ours.common(theirs.names()), ours.names()[1]);
  EXPECT_EQ(ours.common(secrets({std::string(32, 'd')}).names()), std::nullopt);
  EXPECT_EQ(ours.common({}), std::nullopt);
  EXPECT_EQ(secrets({}).common(ours.names()), std::nullopt);
}

}  // namespace
}  // namespace braidmq::peer

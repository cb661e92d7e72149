#include "model/topic_name.hpp"

#include <gtest/gtest.h>

namespace braidmq::model {
namespace {

TEST(TopicName, LegalOnes) {
  for (const std::string_view name : {"a", "orders", "Orders.v2_x-1", "...", ".a", "__consumer_offsets", "-"}) {
    EXPECT_TRUE(check_topic_name(name)) << name;
  }
  EXPECT_TRUE(check_topic_name(std::string(249, 'x')));
}

TEST(TopicName, Z8_IllegalOnes) {
  const std::string_view nul("a\0b", 3);
  for (const std::string_view name :
       {std::string_view(""), std::string_view("."), std::string_view(".."), nul, std::string_view("a/b"),
        std::string_view("../x"), std::string_view("a b"), std::string_view("caf\xc3\xa9"), std::string_view("a\n"),
        std::string_view("*"), std::string_view("a:b"), std::string_view("a\\b")}) {
    const auto got = check_topic_name(name);
    ASSERT_FALSE(got) << name;
    EXPECT_EQ(got.error().code, errc::invalid_topic);
    EXPECT_EQ(got.error().message.find('\n'), std::string::npos) << "the name does not get into the message";
  }
  EXPECT_FALSE(check_topic_name(std::string(250, 'x')));
}

TEST(TopicName, DotAndUnderscoreCollide) {
  EXPECT_TRUE(topic_names_collide("a.b", "a_b"));
  EXPECT_TRUE(topic_names_collide("a.b", "a.b"));
  EXPECT_TRUE(topic_names_collide("._", "_."));
  EXPECT_FALSE(topic_names_collide("a.b", "a-b"));
  EXPECT_FALSE(topic_names_collide("a.b", "a.bc"));
  EXPECT_EQ(topic_collision_key("a.b_c"), topic_collision_key("a_b.c"));
  EXPECT_NE(topic_collision_key("a.b"), topic_collision_key("a-b"));
}

}  // namespace
}  // namespace braidmq::model

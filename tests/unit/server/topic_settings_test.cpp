#include "server/topic_settings.hpp"

#include <gtest/gtest.h>

namespace braidmq::server {
namespace {

TEST(TopicSettings, OwnConfigsWinOverDefaults) {
  broker_options defaults;
  defaults.max_message_bytes = 1000;
  metadata::topic_image topic;
  EXPECT_EQ(settings_of(topic, defaults).max_message_bytes, 1000);
  EXPECT_EQ(settings_of(topic, defaults).timestamps, model::timestamp_type::create_time);
  topic.configs = {{"max.message.bytes", "77"}, {"message.timestamp.type", "LogAppendTime"}};
  EXPECT_EQ(settings_of(topic, defaults).max_message_bytes, 77);
  EXPECT_EQ(settings_of(topic, defaults).timestamps, model::timestamp_type::log_append_time);
  defaults.log_append_time = true;
  topic.configs = {{"message.timestamp.type", "CreateTime"}};
  EXPECT_EQ(settings_of(topic, defaults).timestamps, model::timestamp_type::create_time);
}

TEST(TopicSettings, WhatIsNotHonouredIsRefusedInWords) {
  EXPECT_TRUE(check_topic_configs({}));
  EXPECT_TRUE(check_topic_configs({{"max.message.bytes", "0"}, {"min.insync.replicas", "2"}}));
  const auto unknown = check_topic_configs({{"retention.ms", "1000"}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'retention.ms' is not supported"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("max.message.bytes"), std::string::npos) << "says what can be set";
  for (const char* bad : {"", "x", "-1", "1.5", "99999999999", " 7"}) {
    EXPECT_FALSE(check_topic_configs({{"max.message.bytes", bad}})) << "'" << bad << "'";
  }
  EXPECT_FALSE(check_topic_configs({{"message.timestamp.type", "logappendtime"}}));
  EXPECT_FALSE(check_topic_configs({{"min.insync.replicas", "0"}}));
}

TEST(TopicSettings, EveryConfigIsShownWithItsOrigin) {
  const auto shown = shown_configs({{"max.message.bytes", "5"}}, {});
  EXPECT_EQ(shown.size(), 5U);
  for (const shown_config& config : shown) {
    EXPECT_EQ(config.is_default, config.name != "max.message.bytes") << config.name;
    EXPECT_FALSE(config.value.empty()) << config.name;
  }
}

}  // namespace
}  // namespace braidmq::server

#include "server/topic_settings.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "metadata/errc.hpp"

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
  EXPECT_FALSE(settings_of(topic, defaults).atomic);
  defaults.atomic_produce = true;
  EXPECT_TRUE(settings_of(topic, defaults).atomic);
  topic.configs = {{"message.timestamp.type", "CreateTime"}, {"produce.atomic", "false"}};
  EXPECT_FALSE(settings_of(topic, defaults).atomic);
  EXPECT_EQ(settings_of(topic, defaults).timestamps, model::timestamp_type::create_time);
}

TEST(TopicSettings, RetentionIsOfTheTopicElseOfTheBrokerAndNotOfCompactedTopics) {
  broker_options defaults;
  defaults.retention_ms = 1000;
  EXPECT_EQ(retention_of({}, defaults).keep_ms, 1000);
  EXPECT_EQ(retention_of({}, defaults).keep_bytes, std::nullopt) << "-1 is no bound";
  const auto own = retention_of({{"retention.ms", "-1"}, {"retention.bytes", "0"}}, defaults);
  EXPECT_EQ(own.keep_ms, std::nullopt);
  EXPECT_EQ(own.keep_bytes, 0U);
  EXPECT_EQ(retention_of({{"cleanup.policy", "compact"}}, defaults).keep_ms, std::nullopt);
  EXPECT_EQ(retention_of({{"cleanup.policy", "compact,delete"}}, defaults).keep_ms, 1000);
}

TEST(TopicSettings, SegmentsEndWhereTheTopicSaysElseTheBroker) {
  broker_options defaults;
  defaults.log.segments = {500, 7};
  EXPECT_EQ(segments_of({}, defaults).bytes, 500U);
  EXPECT_EQ(segments_of({}, defaults).ms, 7);
  EXPECT_EQ(segments_of({{"segment.bytes", "1048576"}, {"segment.ms", "9"}}, defaults).bytes, 1'048'576U);
  EXPECT_EQ(segments_of({{"segment.bytes", "1048576"}, {"segment.ms", "9"}}, defaults).ms, 9);
}

std::string refusal_of(const std::string& name, const std::string& value, std::int32_t replicas = 3) {
  const status checked = check_topic_configs({{name, value}}, replicas);
  if (checked) return {};
  EXPECT_EQ(checked.error().code, metadata::errc::invalid_config);
  return checked.error().message;
}

TEST(TopicSettings, TheTableIsSortedAndItsDefaultsAreValid) {
  EXPECT_TRUE(std::ranges::is_sorted(topic_config_rules(), {}, &topic_config_rule::name));
  EXPECT_EQ(topic_config_rules().size(), 38U) << "as many as Kafka 4.4 has, and one of ours";
  for (const topic_config_rule& rule : topic_config_rules()) {
    EXPECT_EQ(find_topic_config(rule.name), &rule);
    EXPECT_TRUE(check_topic_config(rule, std::string(rule.default_value), 1)) << rule.name;
    EXPECT_TRUE(check_topic_config(rule, rule.default_of({}), 1)) << rule.name;
    EXPECT_FALSE(rule.about.empty()) << rule.name;
  }
}

TEST(TopicSettings, ValuesAreCheckedByTypeAndRange) {
  EXPECT_TRUE(check_topic_configs({}, 1));
  for (const char* bad : {"", "x", "-1", "1.5", "99999999999", " 7", "7 "}) {
    EXPECT_NE(refusal_of("max.message.bytes", bad), "") << "'" << bad << "'";
  }
  EXPECT_EQ(refusal_of("max.message.bytes", "0"), "");
  EXPECT_EQ(refusal_of("retention.ms", "-1"), "");
  EXPECT_NE(refusal_of("retention.ms", "-2"), "");
  EXPECT_NE(refusal_of("message.timestamp.type", "logappendtime"), "");
  EXPECT_EQ(refusal_of("min.cleanable.dirty.ratio", "0.25"), "");
  for (const char* bad : {"1.01", "-0.1", "nan", "inf", "x", "0.5x", ""}) {
    EXPECT_NE(refusal_of("min.cleanable.dirty.ratio", bad), "") << bad;
  }
  for (const char* good : {"delete", "compact", "compact,delete", "delete, compact", ""}) {
    EXPECT_EQ(refusal_of("cleanup.policy", good), "") << good;
  }
  for (const char* bad : {"Delete", "delete,delete", "delete,,compact", "keep"}) {
    EXPECT_NE(refusal_of("cleanup.policy", bad), "") << bad;
  }
  EXPECT_EQ(refusal_of("preallocate", "true"), "");
  EXPECT_NE(refusal_of("preallocate", "yes"), "");
  EXPECT_EQ(refusal_of("produce.atomic", "true"), "");
  EXPECT_NE(refusal_of("produce.atomic", "yes"), "");
  EXPECT_NE(refusal_of("remote.storage.enable", "true"), "") << "would be believed to work";
  EXPECT_EQ(refusal_of("compression.gzip.level", "-1"), "");
  EXPECT_NE(refusal_of("compression.gzip.level", "0"), "");
  EXPECT_EQ(refusal_of("leader.replication.throttled.replicas", "0:1,3:2"), "");
  EXPECT_EQ(refusal_of("leader.replication.throttled.replicas", "*"), "");
  EXPECT_NE(refusal_of("leader.replication.throttled.replicas", "0:x"), "");
  EXPECT_NE(refusal_of("leader.replication.throttled.replicas", std::string(20'000, '1')), "") << "bounded";
}

TEST(TopicSettings, MinInsyncReplicasFitTheReplicationFactor) {
  EXPECT_EQ(refusal_of("min.insync.replicas", "3", 3), "");
  EXPECT_NE(refusal_of("min.insync.replicas", "0", 3), "");
  EXPECT_NE(refusal_of("min.insync.replicas", "2", 1).find("replication factor, which is 1"), std::string::npos);
}

TEST(TopicSettings, AnUnknownNameIsRefusedWithTheNearestOne) {
  const auto suggested = [](const char* name) { return std::string(nearest_topic_config(name).value_or("none")); };
  EXPECT_EQ(suggested("retention.mss"), "retention.ms");
  EXPECT_EQ(suggested("retention_ms"), "retention.ms");
  EXPECT_EQ(suggested("cleanup.polcy"), "cleanup.policy");
  EXPECT_EQ(suggested("max.messages.bytes"), "max.message.bytes");
  EXPECT_EQ(suggested("zzz"), "none");
  EXPECT_NE(refusal_of("retention.mss", "1").find("did you mean 'retention.ms'?"), std::string::npos);
  EXPECT_EQ(nearest_topic_config(std::string(100'000, 'x')), std::nullopt) << "no long search for a long name";
}

TEST(TopicSettings, EveryConfigIsShownWithItsOrigin) {
  broker_options options;
  options.timestamp_after_max_ms = 77;
  for (const shown_config& config : shown_configs({{"max.message.bytes", "5"}}, options)) {
    if (config.rule->name == "max.message.bytes") {
      EXPECT_EQ(config.value(), "5");
      EXPECT_EQ(config.source(), config_source::topic);
      ASSERT_EQ(config.synonyms.size(), 2U);
      EXPECT_EQ(config.synonyms[1].name, "message.max.bytes");
      EXPECT_EQ(config.synonyms[1].value, "1048588");
    } else if (config.rule->name == "message.timestamp.after.max.ms") {
      EXPECT_EQ(config.value(), "77");
      EXPECT_EQ(config.source(), config_source::broker);
    } else {
      EXPECT_EQ(config.source(), config_source::kafka_default) << config.rule->name;
    }
  }
}

}  // namespace
}  // namespace braidmq::server

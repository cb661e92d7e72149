// CreatePartitions, DescribeConfigs and IncrementalAlterConfigs.
#include "protocol/generated/create_partitions.hpp"
#include "protocol/generated/describe_configs.hpp"
#include "protocol/generated/incremental_alter_configs.hpp"
#include "server/topic_settings.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

constexpr std::int8_t topic_resource = 2;
constexpr std::int8_t broker_resource = 4;

class CreatePartitionsTest : public ServerTest {
 protected:
  protocol::create_partitions_request::create_partitions_topic& add(const std::string& name, std::int32_t count) {
    request_.timeout_ms = 5000;
    auto& topic = request_.topics.emplace_back();
    topic.name = name;
    topic.count = count;
    topic.assignments.reset();
    return topic;
  }
  auto grow(std::int16_t version = 3) {
    return ask<protocol::create_partitions_response>(std::exchange(request_, {}), version)->results;
  }
  error_code grow_one(const std::string& name, std::int32_t count) {
    add(name, count);
    return grow().at(0).error_code;
  }

  protocol::create_partitions_request request_;
};

TEST_F(CreatePartitionsTest, GrowsInEveryVersion) {
  start();
  make_topic("orders", 1);
  for (std::int16_t version = 0; version <= 3; ++version) {
    add("orders", 2 + version);
    EXPECT_EQ(grow(version).at(0).error_code, error_code::none) << version;
    EXPECT_EQ(broker_->image()->find("orders")->partitions, 2 + version);
  }
  EXPECT_EQ(broker_->braid().state().partitions().size(), 5U);
}

TEST_F(CreatePartitionsTest, RefusesInKafkasCodes) {
  start();
  make_topic("orders", 2);
  EXPECT_EQ(grow_one("orders", 2), error_code::invalid_partitions) << "as many as there are";
  EXPECT_EQ(grow_one("orders", 1), error_code::invalid_partitions);
  EXPECT_EQ(grow_one("orders", -1), error_code::invalid_partitions);
  EXPECT_EQ(grow_one("orders", 1'000'000), error_code::policy_violation);
  EXPECT_EQ(grow_one("nowhere", 5), error_code::unknown_topic_or_partition);
  add("orders", 3);
  add("orders", 4);
  const auto twice = grow();
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(twice[0].error_code, error_code::invalid_request);
  EXPECT_EQ(broker_->image()->find("orders")->partitions, 2);
}

TEST_F(CreatePartitionsTest, AnAssignmentMaySayOnlyWhatWillBe) {
  start();
  make_topic("orders", 1);
  const auto assign = [&](std::vector<std::int32_t> brokers) {
    auto& topic = add("orders", 3);
    topic.assignments.emplace();
    for (const std::int32_t broker : brokers) topic.assignments->push_back({{model::broker_id(broker)}});
    return grow().at(0).error_code;
  };
  EXPECT_EQ(assign({0}), error_code::invalid_replica_assignment) << "two partitions are new";
  EXPECT_EQ(assign({0, 7}), error_code::invalid_replica_assignment);
  EXPECT_EQ(assign({0, 0}), error_code::none);
}

TEST_F(CreatePartitionsTest, ValidateOnlyGrowsNothing) {
  start();
  make_topic("orders", 1);
  add("orders", 3);
  request_.validate_only = true;
  EXPECT_EQ(grow().at(0).error_code, error_code::none);
  EXPECT_EQ(broker_->image()->find("orders")->partitions, 1);
}

class ConfigsTest : public ServerTest {
 protected:
  static constexpr std::int8_t set = 0;
  static constexpr std::int8_t unset = 1;
  static constexpr std::int8_t append = 2;
  static constexpr std::int8_t subtract = 3;

  protocol::incremental_alter_configs_request::alter_configs_resource& change(
      const std::string& name, std::vector<std::tuple<std::string, std::int8_t, std::optional<std::string>>> configs,
      std::int8_t type = topic_resource) {
    auto& resource = request_.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    for (auto& [config, what, value] : configs) resource.configs.push_back({config, what, value});
    return resource;
  }
  auto alter(std::int16_t version = 1) {
    return ask<protocol::incremental_alter_configs_response>(std::exchange(request_, {}), version)->responses;
  }
  error_code alter_one(const std::string& name, const std::string& config, std::int8_t what,
                       std::optional<std::string> value) {
    change(name, {{config, what, std::move(value)}});
    return alter().at(0).error_code;
  }
  auto describe(std::int8_t type, const std::string& name, std::optional<std::vector<std::string>> keys = std::nullopt,
                std::int16_t version = 4) {
    protocol::describe_configs_request request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    resource.configuration_keys = std::move(keys);
    request.include_synonyms = true;
    request.include_documentation = version >= 3;
    return ask<protocol::describe_configs_response>(request, version)->results.at(0);
  }
  const std::map<std::string, std::string>& configs_of(const std::string& name) {
    return broker_->image()->find(name)->configs;
  }

  protocol::incremental_alter_configs_request request_;
};

TEST_F(ConfigsTest, SetAndUnset) {
  start();
  make_topic("orders", 1);
  for (std::int16_t version = 0; version <= 1; ++version) {
    change("orders", {{"retention.ms", set, "5"}, {"max.message.bytes", set, "100"}});
    EXPECT_EQ(alter(version).at(0).error_code, error_code::none);
    EXPECT_EQ(configs_of("orders").at("retention.ms"), "5");
    change("orders", {{"retention.ms", unset, std::nullopt}});
    EXPECT_EQ(alter(version).at(0).error_code, error_code::none);
    EXPECT_EQ(configs_of("orders"), (std::map<std::string, std::string>{{"max.message.bytes", "100"}}));
  }
}

TEST_F(ConfigsTest, ListsAreAppendedToAndSubtractedFrom) {
  start();
  make_topic("orders", 1);
  EXPECT_EQ(alter_one("orders", "cleanup.policy", append, "compact"), error_code::none);
  EXPECT_EQ(configs_of("orders").at("cleanup.policy"), "delete,compact") << "the default counts";
  EXPECT_EQ(alter_one("orders", "cleanup.policy", append, "compact"), error_code::none);
  EXPECT_EQ(configs_of("orders").at("cleanup.policy"), "delete,compact");
  EXPECT_EQ(alter_one("orders", "cleanup.policy", subtract, "delete"), error_code::none);
  EXPECT_EQ(configs_of("orders").at("cleanup.policy"), "compact");
  EXPECT_EQ(alter_one("orders", "retention.ms", append, "1"), error_code::invalid_config);
}

TEST_F(ConfigsTest, RefusesInKafkasCodesAndAllOfAResource) {
  start();
  make_topic("orders", 1);
  change("orders", {{"retention.ms", set, "5"}, {"retention.mss", set, "5"}});
  const auto refused = alter();
  EXPECT_EQ(refused.at(0).error_code, error_code::invalid_config);
  EXPECT_NE(refused.at(0).error_message->find("did you mean 'retention.ms'?"), std::string::npos);
  EXPECT_TRUE(configs_of("orders").empty());
  EXPECT_EQ(alter_one("nowhere", "retention.ms", set, "5"), error_code::unknown_topic_or_partition);
  EXPECT_EQ(alter_one("orders", "retention.ms", set, std::nullopt), error_code::invalid_request);
  EXPECT_EQ(alter_one("orders", "retention.ms", 9, "5"), error_code::invalid_request);
  change("orders", {{"retention.ms", set, "5"}, {"retention.ms", unset, std::nullopt}});
  EXPECT_EQ(alter().at(0).error_code, error_code::invalid_request);
  change("0", {{"num.partitions", set, "5"}}, broker_resource);
  change("orders", {{"retention.ms", set, "5"}});
  change("orders", {{"retention.ms", set, "6"}});
  change("orders", {{"retention.ms", set, "7"}}, 16);
  const auto mixed = alter();
  ASSERT_EQ(mixed.size(), 4U);
  EXPECT_EQ(mixed[0].error_code, error_code::invalid_request) << "a broker's configs come from its file";
  EXPECT_EQ(mixed[1].error_code, error_code::none);
  EXPECT_EQ(mixed[2].error_code, error_code::invalid_request) << "twice in a request";
  EXPECT_EQ(mixed[3].error_code, error_code::invalid_request);
  EXPECT_EQ(configs_of("orders").at("retention.ms"), "5");
}

TEST_F(ConfigsTest, ValidateOnlyChangesNothing) {
  start();
  make_topic("orders", 1);
  change("orders", {{"retention.ms", set, "5"}});
  request_.validate_only = true;
  EXPECT_EQ(alter().at(0).error_code, error_code::none);
  EXPECT_TRUE(configs_of("orders").empty());
}

TEST_F(ConfigsTest, ATopicIsDescribedWithTypesSourcesAndSynonyms) {
  start();
  make_topic("orders", 1, {{"retention.ms", "5"}});
  for (std::int16_t version = 1; version <= 4; ++version) {
    const auto all = describe(topic_resource, "orders", std::nullopt, version);
    EXPECT_EQ(all.error_code, error_code::none);
    EXPECT_EQ(all.configs.size(), topic_config_rules().size());
  }
  const auto some = describe(topic_resource, "orders", std::vector<std::string>{"retention.ms", "segment.bytes"});
  ASSERT_EQ(some.configs.size(), 2U);
  EXPECT_EQ(some.configs[0].value, "5");
  EXPECT_EQ(some.configs[0].config_source, 1);
  EXPECT_EQ(some.configs[0].config_type, 5) << "a long";
  EXPECT_FALSE(some.configs[0].read_only);
  ASSERT_EQ(some.configs[0].synonyms.size(), 2U);
  EXPECT_EQ(some.configs[0].synonyms[1].value, "604800000");
  EXPECT_EQ(some.configs[0].documentation->find("without effect in this version"), std::string::npos);
  EXPECT_EQ(some.configs[1].config_source, 5);
  const auto idle = describe(topic_resource, "orders", std::vector<std::string>{"flush.ms"});
  EXPECT_NE(idle.configs.at(0).documentation->find("without effect in this version"), std::string::npos);
  EXPECT_EQ(describe(topic_resource, "nowhere").error_code, error_code::unknown_topic_or_partition);
}

TEST_F(ConfigsTest, TheBrokerIsDescribedReadOnlyAndOthersAreRefused) {
  options_.default_partitions = 7;
  start();
  const auto broker = describe(broker_resource, "0");
  EXPECT_EQ(broker.error_code, error_code::none);
  const auto found = std::ranges::find(broker.configs, std::string("num.partitions"),
                                       &protocol::describe_configs_response::describe_configs_resource_result::name);
  ASSERT_NE(found, broker.configs.end());
  EXPECT_EQ(found->value, "7");
  EXPECT_TRUE(found->read_only);
  const auto expiry = std::ranges::find(broker.configs, std::string("producer.id.expiration.ms"),
                                        &protocol::describe_configs_response::describe_configs_resource_result::name);
  ASSERT_NE(expiry, broker.configs.end());
  EXPECT_EQ(expiry->value, "86400000");
  EXPECT_TRUE(std::ranges::is_sorted(broker.configs, {},
                                     &protocol::describe_configs_response::describe_configs_resource_result::name));
  EXPECT_EQ(describe(broker_resource, "3").error_code, error_code::invalid_request);
  EXPECT_TRUE(describe(broker_resource, "").configs.empty()) << "there are no defaults of all brokers";
  EXPECT_EQ(describe(16, "x").error_code, error_code::invalid_request);
}

}  // namespace
}  // namespace braidmq::server

#include "protocol/generated/create_topics.hpp"

#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::create_topics_request;
using protocol::error_code;

class CreateTopicsTest : public ServerTest {
 protected:
  create_topics_request::creatable_topic& add(const std::string& name, std::int32_t partitions = 1,
                                              std::int16_t replicas = -1) {
    request_.timeout_ms = 5000;
    auto& topic = request_.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = partitions;
    topic.replication_factor = replicas;
    return topic;
  }
  std::vector<protocol::create_topics_response::creatable_topic_result> create() {
    const auto response = ask<protocol::create_topics_response>(std::exchange(request_, {}), 7);
    return response ? response->topics : std::vector<protocol::create_topics_response::creatable_topic_result>();
  }
  error_code create_one(const std::string& name, std::int32_t partitions = 1, std::int16_t replicas = -1) {
    add(name, partitions, replicas);
    return create().at(0).error_code;
  }

  create_topics_request request_;
};

TEST_F(CreateTopicsTest, AnswersWithWhatWasMade) {
  options_.default_partitions = 3;
  start();
  add("a", -1);
  auto& configured = add("b", 5, 1).configs.emplace_back();
  configured.name = "max.message.bytes";
  configured.value = "1234";
  const auto made = create();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].num_partitions, 3);
  EXPECT_EQ(made[1].num_partitions, 5);
  EXPECT_FALSE(made[1].topic_id.is_zero());
  EXPECT_EQ(broker_->image()->find("b")->configs.at("max.message.bytes"), "1234");
  const auto shown = std::ranges::find(*made[1].configs, std::string("max.message.bytes"),
                                       &protocol::create_topics_response::creatable_topic_configs::name);
  ASSERT_NE(shown, made[1].configs->end());
  EXPECT_EQ(shown->value, "1234");
}

TEST_F(CreateTopicsTest, RefusesInKafkasCodes) {
  start();
  EXPECT_EQ(create_one("a"), error_code::none);
  EXPECT_EQ(create_one("a"), error_code::topic_already_exists);
  EXPECT_EQ(create_one("no/good"), error_code::invalid_topic_exception);
  EXPECT_EQ(create_one("x.y"), error_code::none);
  EXPECT_EQ(create_one("x_y"), error_code::invalid_topic_exception);
  EXPECT_EQ(create_one("b", 0), error_code::invalid_partitions);
  EXPECT_EQ(create_one("b", 1'000'000), error_code::policy_violation);
  EXPECT_EQ(create_one("b", 1, 3), error_code::invalid_replication_factor);
  auto& config = add("b").configs.emplace_back();
  config.name = "retention.mss";
  config.value = "1";
  const auto refused = create();
  EXPECT_EQ(refused.at(0).error_code, error_code::invalid_config);
  EXPECT_NE(refused.at(0).error_message->find("did you mean 'retention.ms'?"), std::string::npos);
  EXPECT_EQ(broker_->image()->find("b"), nullptr) << "nothing was made on the way";
}

TEST_F(CreateTopicsTest, ATopicTwiceInARequestIsRefusedOnce) {
  start();
  add("a");
  add("a");
  add("b");
  const auto answers = create();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].error_code, error_code::invalid_request);
  EXPECT_EQ(answers[1].error_code, error_code::none);
}

TEST_F(CreateTopicsTest, ValidateOnlyMakesNothing) {
  start();
  add("a");
  request_.validate_only = true;
  EXPECT_EQ(create().at(0).error_code, error_code::none);
  EXPECT_EQ(broker_->image()->find("a"), nullptr);
}

TEST_F(CreateTopicsTest, AManualAssignmentMaySayOnlyWhatWillBe) {
  start();
  const auto assign = [&](std::vector<std::pair<std::int32_t, std::int32_t>> places) {
    auto& topic = add("m" + std::to_string(places.size()), -1);
    for (const auto& [partition, broker] : places) {
      auto& one = topic.assignments.emplace_back();
      one.partition_index = model::partition_index(partition);
      one.broker_ids = {model::broker_id(broker)};
    }
    return create().at(0).error_code;
  };
  EXPECT_EQ(assign({{0, 0}, {1, 0}}), error_code::none);
  EXPECT_EQ(assign({{0, 7}}), error_code::invalid_replica_assignment);
  EXPECT_EQ(assign({{0, 0}, {2, 0}, {3, 0}}), error_code::invalid_replica_assignment);
}

}  // namespace
}  // namespace braidmq::server

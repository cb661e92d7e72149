#include "server/topic_admin.hpp"

#include "server/error_mapping.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

constexpr io::duration patience = std::chrono::seconds(5);

class TopicAdminTest : public ServerTest {
 protected:
  using outcome = std::optional<result<topic_description>>;

  topic_admin::described into(outcome& said) {
    return [&said](result<topic_description> value) {
      EXPECT_FALSE(said.has_value()) << "once";
      said = std::move(value);
    };
  }
  result<topic_description> create(topic_creation wanted) {
    outcome said;
    broker_->topics().create(std::move(wanted), patience, into(said));
    return finish(said);
  }
  result<topic_description> alter(topic_alteration wanted) {
    outcome said;
    broker_->topics().alter(std::move(wanted), patience, into(said));
    return finish(said);
  }
  result<topic_description> remove(const std::string& name, std::optional<model::topic_id> id = std::nullopt) {
    outcome said;
    broker_->topics().remove(name, id, patience, into(said));
    return finish(said);
  }
  result<topic_description> finish(outcome& said) {
    EXPECT_FALSE(said.has_value()) << "never inside the call";
    run();
    EXPECT_TRUE(said.has_value());
    return std::move(*said);
  }
  static error_code code_of(const result<topic_description>& said) {
    return said ? error_code::none : wire_error(said.error().code);
  }
  // As the braid has it.
  std::size_t partitions_of(const model::topic_id& id) {
    std::size_t count = 0;
    for (const auto& [target, partition] : broker_->braid().state().partitions()) count += target.topic == id ? 1 : 0;
    return count;
  }
};

TEST_F(TopicAdminTest, AnswersWhenTheBraidHasAppliedIt) {
  start();
  const auto made = create({"orders", 3, -1, {{"retention.ms", "1000"}}});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(partitions_of(made->id), 3U);
  EXPECT_EQ(made->replication_factor, 1);
  EXPECT_EQ(made->created_index, made->changed_index);
  topic_alteration grow;
  grow.name = "orders";
  grow.id = made->id;
  grow.partitions = 5;
  grow.configs = {{"retention.ms", std::nullopt}, {"max.message.bytes", "5000"}};
  const auto grown = alter(grow);
  ASSERT_TRUE(grown) << grown.error().to_string();
  EXPECT_EQ(partitions_of(made->id), 5U);
  EXPECT_EQ(grown->configs, (std::map<std::string, std::string>{{"max.message.bytes", "5000"}}));
  EXPECT_EQ(broker_->braid().state().find_topic(made->id)->configs, grown->configs);
  EXPECT_GT(grown->changed_index, grown->created_index);
  const auto gone = remove("orders");
  ASSERT_TRUE(gone) << gone.error().to_string();
  EXPECT_EQ(gone->id, made->id);
  EXPECT_EQ(partitions_of(made->id), 0U);
  EXPECT_FALSE(broker_->topics().get("orders"));
  EXPECT_FALSE(broker_->topics().get(made->id));
}

TEST_F(TopicAdminTest, WhatIsSoAlreadyIsAnsweredWithoutAnEntry) {
  start();
  const auto made = create({"orders", 3, -1, {{"retention.ms", "1000"}}});
  const std::uint64_t index = broker_->image()->index();
  topic_alteration same;
  same.name = "orders";
  same.partitions = 3;
  same.configs = {{"retention.ms", "1000"}, {"retention.bytes", std::nullopt}};
  const auto said = alter(same);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->changed_index, made->changed_index);
  EXPECT_EQ(broker_->image()->index(), index);
}

TEST_F(TopicAdminTest, RefusesInKafkasErrors) {
  start();
  const auto made = create({"orders", 3, -1, {}});
  EXPECT_EQ(code_of(create({"orders", 1, -1, {}})), error_code::topic_already_exists);
  EXPECT_EQ(code_of(create({"no/good", 1, -1, {}})), error_code::invalid_topic_exception);
  EXPECT_EQ(code_of(create({"a", 0, -1, {}})), error_code::invalid_partitions);
  EXPECT_EQ(code_of(create({"a", 1, 2, {}})), error_code::invalid_replication_factor);
  EXPECT_EQ(code_of(create({"a", 1, -1, {{"retention", "1"}}})), error_code::invalid_config);
  EXPECT_EQ(code_of(create({"a", 1, -1, {{"min.insync.replicas", "2"}}})), error_code::invalid_config);

  const auto altered = [this](std::optional<std::int32_t> partitions,
                              std::map<std::string, std::optional<std::string>> configs,
                              std::optional<model::topic_id> id = std::nullopt, std::string name = "orders") {
    return code_of(alter({std::move(name), id, partitions, std::move(configs)}));
  };
  const model::topic_id other = random_.next_uuid();
  EXPECT_EQ(altered(2, {}), error_code::invalid_partitions);
  EXPECT_EQ(altered(0, {}), error_code::invalid_partitions);
  EXPECT_EQ(altered(1'000'000, {}), error_code::invalid_partitions);
  EXPECT_EQ(altered(std::nullopt, {{"retention.ms", "x"}}), error_code::invalid_config);
  EXPECT_EQ(altered(std::nullopt, {{"unknown", std::nullopt}}), error_code::invalid_config);
  EXPECT_EQ(altered(5, {}, other), error_code::unknown_topic_id);
  EXPECT_EQ(altered(5, {}, std::nullopt, "nowhere"), error_code::unknown_topic_or_partition);
  EXPECT_EQ(altered(5, {{"retention.ms", "x"}}), error_code::invalid_config);
  EXPECT_EQ(broker_->topics().get("orders")->partitions, 3) << "all or nothing";

  EXPECT_EQ(code_of(remove("nowhere")), error_code::unknown_topic_or_partition);
  EXPECT_EQ(code_of(remove("orders", other)), error_code::unknown_topic_id);
  EXPECT_EQ(code_of(remove("orders", made->id)), error_code::none);
}

TEST_F(TopicAdminTest, ValidatingChangesNothing) {
  start();
  topic_creation wanted{"orders", -1, -1, {}, true};
  const auto checked = create(wanted);
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->id.is_zero());
  EXPECT_EQ(checked->partitions, 1);
  EXPECT_FALSE(broker_->topics().get("orders"));
  ASSERT_TRUE(create({"orders", 2, -1, {}}));
  topic_alteration change{"orders", std::nullopt, 4, {{"retention.ms", "7"}}, true};
  const auto after = alter(change);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->partitions, 4);
  EXPECT_EQ(after->configs.at("retention.ms"), "7");
  EXPECT_EQ(broker_->topics().get("orders")->partitions, 2);
  change.partitions = 1;
  EXPECT_EQ(code_of(alter(change)), error_code::invalid_partitions);
}

TEST_F(TopicAdminTest, ANameThatIsUsedAgainIsAnotherTopic) {
  start();
  const auto first = create({"orders", 2, -1, {{"retention.ms", "1"}}});
  ASSERT_TRUE(remove("orders"));
  const auto second = create({"orders", 1, -1, {}});
  ASSERT_TRUE(second);
  EXPECT_NE(second->id, first->id);
  EXPECT_TRUE(second->configs.empty());
  EXPECT_EQ(partitions_of(first->id), 0U);
  EXPECT_EQ(partitions_of(second->id), 1U);
  EXPECT_EQ(code_of(remove("orders", first->id)), error_code::unknown_topic_id);
}

TEST_F(TopicAdminTest, PagesGoThroughAllTopicsOnce) {
  start();
  for (const char* name : {"e", "a", "c", "d", "b"}) ASSERT_TRUE(create({name, 1, -1, {}}));
  std::vector<std::string> names;
  std::string after;
  std::size_t pages = 0;
  for (;;) {
    const topic_page page = broker_->topics().list(after, 2);
    EXPECT_EQ(page.metadata_index, broker_->image()->index());
    ++pages;
    for (const topic_description& topic : page.topics) names.push_back(topic.name);
    if (!page.next) break;
    after = *page.next;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(pages, 3U);
  EXPECT_EQ(broker_->topics().list("", 5).next, std::nullopt);
  EXPECT_EQ(broker_->topics().list("", 0).topics.size(), 1U) << "no page is empty while there is more";
}

// The metadata log has the change, and the braid cannot write: nobody is told that the topic can be used.
TEST_F(TopicAdminTest, TimesOutWhenTheBraidDoesNotApply) {
  start();
  outcome said;
  broker_->topics().create({"orders", 1, -1, {}}, std::chrono::milliseconds(100), into(said));
  while (loop_.run_one(control_) || loop_.run_one(disk_)) {
  }
  ASSERT_TRUE(broker_->topics().get("orders"));
  const auto run_without_disk = [this] {
    while (loop_.run_one(control_) || loop_.run_one(shard_)) {
    }
  };
  run_without_disk();
  EXPECT_FALSE(said.has_value());
  shard_timers_.advance(std::chrono::milliseconds(100));
  run_without_disk();
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(code_of(*said), error_code::request_timed_out);
  run();
  EXPECT_EQ(partitions_of(broker_->topics().get("orders")->id), 1U) << "it happens all the same";
}

// An older image does not know the topic yet: nobody may hear that it is unknown.
TEST_F(TopicAdminTest, WaitsForTheMetadataThatWasAcknowledged) {
  start();
  ASSERT_TRUE(create({"orders", 2, -1, {}}));
  ASSERT_TRUE(create({"dropped", 2, -1, {}}));
  kill();
  open();
  topic_alteration grow;
  grow.name = "orders";
  grow.partitions = 3;
  outcome grown;
  broker_->topics().alter(grow, patience, into(grown));
  run();
  ASSERT_TRUE(grown.has_value() && grown->has_value()) << grown->error().to_string();
  kill();
  open();
  outcome removed;
  broker_->topics().remove("dropped", std::nullopt, patience, into(removed));
  run();
  ASSERT_TRUE(removed.has_value() && removed->has_value()) << removed->error().to_string();
}

TEST_F(TopicAdminTest, SurvivesARestart) {
  start();
  const auto orders = create({"orders", 2, -1, {{"retention.ms", "5"}}});
  const auto dropped = create({"dropped", 2, -1, {}});
  topic_alteration grow;
  grow.name = "orders";
  grow.partitions = 4;
  ASSERT_TRUE(alter(grow));
  ASSERT_TRUE(remove("dropped"));
  const auto before = broker_->topics().get("orders");
  kill();
  start();
  const auto after = broker_->topics().get("orders");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->id, orders->id);
  EXPECT_EQ(after->changed_index, before->changed_index);
  EXPECT_EQ(after->configs, before->configs);
  EXPECT_EQ(partitions_of(orders->id), 4U);
  EXPECT_EQ(partitions_of(dropped->id), 0U);
}

}  // namespace
}  // namespace braidmq::server

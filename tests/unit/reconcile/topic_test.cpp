// Topic: each row of what can be between a spec and a broker.
#include "world.hpp"

namespace braidmq::reconcile::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto& topic = api::topic_type;

struct topic_world : world {
  topic_world() {
    plain_cluster();
    settle();
    EXPECT_EQ(state(api::cluster_type, "prod", "Ready"), "True");
    events.clear();
  }
  void orders(const std::string& more = "") {
    apply(topic,
          R"({"metadata": {"name": "orders"}, "spec": {"clusterRef": {"name": "prod"}, "partitions": 3)" + more + "}}");
  }
  json status_of(const std::string& name) const { return read(topic, name).value().value("status", json::object()); }
};

TEST(topic, is_created) {
  topic_world w;
  w.orders(R"(, "config": {"retention.ms": "1000"}, "minInSyncReplicas": 1)");
  ASSERT_TRUE(w.reconcile(topic, "orders"));
  const auto& made = w.broker.topics.at("orders");
  EXPECT_EQ(made.partitions, 3);
  EXPECT_EQ(made.configs, (std::map<std::string, std::string>{{"retention.ms", "1000"}, {"min.insync.replicas", "1"}}));
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
  EXPECT_EQ(w.state(topic, "orders", "Synced"), "True");
  EXPECT_EQ(w.state(topic, "orders", "Conflict"), "False");
  EXPECT_EQ(w.state(topic, "orders", "Stalled"), "False");
  const auto status = w.status_of("orders");
  EXPECT_EQ(status["topicId"], made.id);
  EXPECT_EQ(status["topicName"], "orders");
  EXPECT_EQ(status["partitions"], 3);
  EXPECT_EQ(status["replicationFactor"], 1);
  EXPECT_EQ(status["metadataIndex"], made.changed_index);
  EXPECT_EQ(status["config"]["retention.ms"], "1000");
  EXPECT_FALSE(w.read(topic, "orders").value()["metadata"].contains("finalizers"));
  EXPECT_TRUE(w.told("TopicCreated"));
  EXPECT_EQ(w.api.writes().back().field_manager, "braidmq-operator-status");
}

TEST(topic, under_another_name) {
  topic_world w;
  w.orders(R"(, "topicName": "Orders.v1")");
  w.settle();
  EXPECT_TRUE(w.broker.topics.contains("Orders.v1"));
  EXPECT_EQ(w.status_of("orders")["topicName"], "Orders.v1");
}

TEST(topic, that_is_there_already_is_adopted) {
  topic_world w;
  w.broker.put_topic("orders", 3);
  const auto id = w.broker.topics.at("orders").id;
  w.orders();
  w.settle();
  EXPECT_EQ(w.status_of("orders")["topicId"], id);
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
}

TEST(topic, grows_and_is_reconfigured) {
  topic_world w;
  w.orders(R"(, "config": {"retention.ms": "1000", "retention.bytes": "5"})");
  w.settle();
  w.change(topic, "orders", [](json& object) {
    object["spec"]["partitions"] = 6;
    object["spec"]["config"] = {{"retention.ms", "2000"}};
  });
  w.settle();
  const auto& now = w.broker.topics.at("orders");
  EXPECT_EQ(now.partitions, 6);
  EXPECT_EQ(now.configs, (std::map<std::string, std::string>{{"retention.ms", "2000"}}));
  EXPECT_EQ(w.status_of("orders")["partitions"], 6);
  EXPECT_TRUE(w.told("TopicGrown"));
}

TEST(topic, drift_is_set_back) {
  topic_world w;
  w.orders(R"(, "config": {"retention.ms": "1000"})");
  w.settle();
  auto& there = w.broker.topics.at("orders");
  there.configs = {{"retention.ms", "7"}, {"segment.bytes", "9"}};
  there.changed_index = ++w.broker.metadata_index;
  w.sync();
  w.clock.advance(std::chrono::seconds(1));
  w.settle();
  EXPECT_EQ(w.broker.topics.at("orders").configs, (std::map<std::string, std::string>{{"retention.ms", "1000"}}));
}

TEST(topic, grown_outside_cannot_shrink) {
  topic_world w;
  w.orders();
  w.settle();
  w.broker.topics.at("orders").partitions = 9;
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "PartitionsCannotShrink");
  EXPECT_THAT(w.message(topic, "orders", "Ready"), HasSubstr("set spec.partitions to 9"));
  EXPECT_EQ(w.status_of("orders")["partitions"], 9);
  EXPECT_EQ(w.broker.topics.at("orders").partitions, 9);
}

TEST(topic, a_replication_factor_above_the_braids_is_refused) {
  topic_world w;
  w.orders(R"(, "replicationFactor": 3)");
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Stalled"), "InvalidReplicationFactor");
  EXPECT_THAT(w.message(topic, "orders", "Ready"), HasSubstr("keeps 1 copies"));
  EXPECT_TRUE(w.told("InvalidReplicationFactor"));
  EXPECT_FALSE(w.broker.topics.contains("orders"));
  const auto again = w.reconcile(topic, "orders");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->again_after.has_value());  // no hot loop
}

TEST(topic, an_unknown_config_is_refused_and_can_be_corrected) {
  topic_world w;
  w.orders(R"(, "config": {"bogus.ms": "1"})");
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Stalled"), "InvalidConfig");
  EXPECT_THAT(w.message(topic, "orders", "Ready"), HasSubstr("remove it"));
  const auto calls = w.broker.calls;
  const auto events = w.events.size();
  const auto writes = w.api.writes().size();
  w.settle();
  EXPECT_EQ(w.api.writes().size(), writes);
  EXPECT_EQ(w.events.size(), events);
  EXPECT_GT(w.broker.calls, calls);
  w.change(topic, "orders", [](json& object) { object["spec"]["config"] = json::object(); });
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
}

TEST(topic, an_unknown_config_of_a_topic_that_is_there_keeps_its_figures) {
  topic_world w;
  w.orders();
  w.settle();
  w.change(topic, "orders", [](json& object) { object["spec"]["config"]["bogus"] = "1"; });
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Synced"), "InvalidConfig");
  EXPECT_EQ(w.status_of("orders")["partitions"], 3);
}

TEST(topic, a_config_that_the_broker_writes_otherwise_is_no_loop) {
  topic_world w;
  w.broker.kept_as["cleanup.policy"] = "compact,delete";
  w.orders(R"(, "config": {"retention.ms": "1"})");
  w.settle();
  w.change(topic, "orders", [](json& object) { object["spec"]["config"]["cleanup.policy"] = "delete,compact"; });
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "ConfigNotKept");
  const auto writes = w.broker.writes;
  for (int i = 0; i < 20; ++i) w.round();
  EXPECT_EQ(w.broker.writes, writes);
}

TEST(topic, without_its_cluster_says_so_and_is_made_when_it_comes) {
  world w;
  w.apply(topic, R"({"metadata": {"name": "orders"}, "spec": {"clusterRef": {"name": "prod"}, "partitions": 3}})");
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "ClusterMissing");
  EXPECT_THAT(w.message(topic, "orders", "Ready"), HasSubstr("no BraidCluster prod in namespace shop"));
  const auto again = w.reconcile(topic, "orders");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->again_after.has_value());
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
}

TEST(topic, observe_reads_and_never_writes) {
  topic_world w;
  w.orders(R"(, "management": "Observe")");
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "TopicMissing");
  w.broker.put_topic("orders", 7, {{"retention.ms", "5"}});
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
  EXPECT_EQ(w.reason(topic, "orders", "Synced"), "Observed");
  EXPECT_EQ(w.status_of("orders")["partitions"], 7);
  EXPECT_EQ(w.broker.writes, 0);
  w.broker.drop_topic("orders");
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "TopicMissing");
  EXPECT_FALSE(w.status_of("orders").contains("topicId"));
}

TEST(topic, paused_neither_reads_nor_writes) {
  topic_world w;
  w.orders(R"(, "management": "Paused")");
  ASSERT_TRUE(w.reconcile(topic, "orders"));
  const auto calls = w.broker.calls;
  ASSERT_TRUE(w.reconcile(topic, "orders"));
  EXPECT_EQ(w.broker.calls, calls);
  EXPECT_EQ(w.reason(topic, "orders", "Synced"), "Paused");
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "Unknown");
  EXPECT_TRUE(w.broker.topics.empty());
}

TEST(topic, of_a_paused_cluster_is_left_alone) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  w.settle();
  w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["paused"] = true; });
  w.change(topic, "orders", [](json& object) { object["spec"]["partitions"] = 5; });
  w.settle();
  EXPECT_EQ(w.broker.topics.at("orders").partitions, 3);
  EXPECT_EQ(w.reason(topic, "orders", "Synced"), "Paused");
  w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["paused"] = false; });
  w.settle();
  EXPECT_EQ(w.broker.topics.at("orders").partitions, 5);
}

TEST(topic, the_oldest_owns_a_name_and_the_next_follows) {
  topic_world w;
  w.orders(R"(, "topicName": "o")");
  w.clock.advance(std::chrono::seconds(5));
  w.apply(topic, R"({"metadata": {"name": "younger"}, "spec": {"clusterRef": {"name": "prod"}, "topicName": "o",
                     "partitions": 50, "deletionPolicy": "Delete"}})");
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
  EXPECT_EQ(w.reason(topic, "younger", "Ready"), "Conflict");
  EXPECT_EQ(w.state(topic, "younger", "Conflict"), "True");
  EXPECT_EQ(w.status_of("younger")["conflictWith"], "shop/orders");
  EXPECT_EQ(w.broker.topics.at("o").partitions, 3);
  w.erase(topic, "younger");  // its Delete must not touch what is not its own
  w.settle();
  EXPECT_FALSE(w.read(topic, "younger"));
  EXPECT_TRUE(w.broker.topics.contains("o"));
  w.apply(topic, R"({"metadata": {"name": "younger"}, "spec": {"clusterRef": {"name": "prod"}, "topicName": "o",
                     "partitions": 50}})");
  w.settle();
  w.erase(topic, "orders");
  w.settle();
  EXPECT_EQ(w.state(topic, "younger", "Ready"), "True");
  EXPECT_EQ(w.state(topic, "younger", "Conflict"), "False");
  EXPECT_FALSE(w.status_of("younger").contains("conflictWith"));
  EXPECT_EQ(w.broker.topics.at("o").partitions, 50);
}

TEST(topic, of_the_same_second_one_owns_the_name) {
  topic_world w;
  w.orders(R"(, "topicName": "o")");
  w.apply(topic, R"({"metadata": {"name": "a-twin"}, "spec": {"clusterRef": {"name": "prod"}, "topicName": "o"}})");
  w.settle();
  EXPECT_NE(w.state(topic, "orders", "Conflict"), w.state(topic, "a-twin", "Conflict"));
}

TEST(topic, of_the_same_second_the_one_that_has_its_topic_keeps_the_name) {
  topic_world w;
  w.orders(R"(, "topicName": "o")");
  w.settle();
  for (const char* twin : {"twin-0", "twin-1", "twin-2", "twin-3", "twin-4", "twin-5", "twin-6", "twin-7"}) {
    w.apply(topic,
            fmt::format(
                R"({{"metadata": {{"name": "{}"}}, "spec": {{"clusterRef": {{"name": "prod"}}, "topicName": "o"}}}})",
                twin));
    w.settle();
    EXPECT_EQ(w.state(topic, "orders", "Conflict"), "False") << twin;
    EXPECT_EQ(w.state(topic, twin, "Conflict"), "True");
  }
}

TEST(topic, replaced_outside_is_not_adopted_in_silence) {
  topic_world w;
  w.orders();
  w.settle();
  const auto id = w.status_of("orders")["topicId"];
  w.broker.drop_topic("orders");
  w.broker.put_topic("orders", 1, {{"retention.ms", "5"}});
  w.settle();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "TopicReplaced");
  EXPECT_EQ(w.broker.topics.at("orders").partitions, 1);
  EXPECT_EQ(w.status_of("orders")["topicId"], id);
  EXPECT_TRUE(w.told("TopicReplaced"));
}

TEST(topic, deleted_outside_is_made_again) {
  topic_world w;
  w.orders();
  w.settle();
  w.broker.drop_topic("orders");
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
  EXPECT_EQ(w.status_of("orders")["topicId"], w.broker.topics.at("orders").id);
  EXPECT_TRUE(w.told("TopicVanished"));
}

TEST(topic, a_creation_whose_answer_is_lost_is_adopted) {
  topic_world w;
  w.broker.lose_next_answer = true;
  w.orders();
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
  EXPECT_EQ(w.broker.writes, 1);
}

TEST(topic, one_failed_call_flips_nothing) {
  topic_world w;
  w.orders();
  w.settle();
  w.api.clear_writes();
  w.broker.unreachable_times = 1;
  const auto again = w.reconcile(topic, "orders");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->again_after.has_value());
  EXPECT_EQ(w.api.writes().size(), 0U);
  w.broker.reachable = false;
  for (int i = 0; i < 8; ++i) w.round();
  EXPECT_EQ(w.reason(topic, "orders", "Ready"), "ClusterNotReady");
  EXPECT_EQ(w.state(topic, "orders", "Stalled"), "False");
  EXPECT_EQ(w.status_of("orders")["partitions"], 3);
  w.broker.reachable = true;
  w.settle();
  EXPECT_EQ(w.state(topic, "orders", "Ready"), "True");
}

// What stands before each change of a broker is the question for the secret.
TEST(topic, is_not_changed_by_who_may_not_write_any_more) {
  topic_world w;
  std::function<result<std::string>()> secret;
  w.env().connect = [&](const std::string&, auto ask) -> result<std::unique_ptr<admin_client::client>> {
    secret = std::move(ask);
    return connect_to_fake(w.broker);
  };
  w.orders();
  ASSERT_TRUE(w.reconcile(topic, "orders"));
  EXPECT_TRUE(secret());
  w.env().may_write = [] { return false; };
  const auto refused = secret();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, k8s::errc::not_leading);
}

// --- deletion

TEST(topic_deletion, retain_leaves_the_topic) {
  topic_world w;
  w.orders();
  w.settle();
  w.erase(topic, "orders");
  w.settle();
  EXPECT_FALSE(w.read(topic, "orders"));
  EXPECT_TRUE(w.broker.topics.contains("orders"));
}

TEST(topic_deletion, delete_takes_it_and_the_finalizer_stands_before_the_topic) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  bool guarded = false;
  w.broker.on_write = [&](const char*) {
    guarded = w.read(topic, "orders").value()["metadata"].contains("finalizers");
  };
  ASSERT_TRUE(w.reconcile(topic, "orders"));
  EXPECT_TRUE(guarded);
  w.broker.on_write = nullptr;
  w.settle();
  w.erase(topic, "orders");
  EXPECT_TRUE(w.read(topic, "orders"));
  w.settle();
  EXPECT_FALSE(w.read(topic, "orders"));
  EXPECT_FALSE(w.broker.topics.contains("orders"));
  EXPECT_TRUE(w.told("TopicDeleted"));
}

TEST(topic_deletion, the_policy_of_the_last_moment_counts) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  w.settle();
  w.change(topic, "orders", [](json& object) { object["spec"]["deletionPolicy"] = "Retain"; });
  w.settle();
  EXPECT_EQ(w.read(topic, "orders").value()["metadata"].value("finalizers", json::array()).size(), 0U);
  w.erase(topic, "orders");
  w.settle();
  EXPECT_TRUE(w.broker.topics.contains("orders"));
}

TEST(topic_deletion, other_finalizers_stay) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  w.change(topic, "orders", [](json& object) { object["metadata"]["finalizers"] = {"example.org/theirs"}; });
  w.settle();
  EXPECT_EQ(w.read(topic, "orders").value()["metadata"]["finalizers"],
            json::array({"example.org/theirs", "braidmq.io/topic"}));
  w.erase(topic, "orders");
  w.settle();
  EXPECT_EQ(w.read(topic, "orders").value()["metadata"]["finalizers"], json::array({"example.org/theirs"}));
}

struct escape {
  const char* name;
  std::function<void(topic_world&)> act;
};

TEST(topic_deletion, is_never_blocked_by_what_is_gone) {
  const std::vector<escape> escapes = {
      {"the cluster is gone", [](topic_world& w) { w.api.erase(api::cluster_type, {"shop", "prod"}); }},
      {"the cluster is going",
       [](topic_world& w) {
         w.change(api::cluster_type, "prod",
                  [](json& object) { object["metadata"]["finalizers"] = {"example.org/held"}; });
         w.erase(api::cluster_type, "prod");
       }},
      {"the namespace is going",
       [](topic_world& w) {
         auto shop = w.api.read(api::namespace_type, {"", "shop"}).value();
         shop["metadata"]["finalizers"] = {"kubernetes"};
         w.api.put(api::namespace_type, shop);
         ASSERT_TRUE(w.api.remove(api::namespace_type, {"", "shop"}, {}));
       }},
      {"it is abandoned", [](topic_world& w) {
         w.change(topic, "orders",
                  [](json& object) { object["metadata"]["annotations"]["braidmq.io/abandon"] = "true"; });
       }}};
  for (const auto& one : escapes) {
    topic_world w;
    w.orders(R"(, "deletionPolicy": "Delete")");
    w.settle();
    w.broker.reachable = false;
    w.erase(topic, "orders");
    w.settle();
    EXPECT_TRUE(w.read(topic, "orders")) << one.name;
    EXPECT_EQ(w.reason(topic, "orders", "Ready"), "DeletionWaits") << one.name;
    one.act(w);
    w.settle();
    EXPECT_FALSE(w.read(topic, "orders")) << one.name;
    EXPECT_TRUE(w.broker.topics.contains("orders")) << one.name;
    EXPECT_TRUE(w.told("TopicKept")) << one.name;
  }
}

TEST(topic_deletion, a_replaced_topic_is_not_this_topics_to_delete) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  w.settle();
  w.broker.drop_topic("orders");
  w.broker.put_topic("orders", 1);
  w.erase(topic, "orders");
  w.settle();
  EXPECT_FALSE(w.read(topic, "orders"));
  EXPECT_TRUE(w.broker.topics.contains("orders"));
}

TEST(topic_deletion, waits_for_a_broker_that_comes_back) {
  topic_world w;
  w.orders(R"(, "deletionPolicy": "Delete")");
  w.settle();
  w.broker.reachable = false;
  w.erase(topic, "orders");
  w.settle();
  EXPECT_THAT(w.message(topic, "orders", "Ready"),
              AllOf(HasSubstr("connection refused"), HasSubstr("braidmq.io/abandon")));
  w.broker.reachable = true;
  w.settle();
  EXPECT_FALSE(w.read(topic, "orders"));
  EXPECT_FALSE(w.broker.topics.contains("orders"));
}

}  // namespace
}  // namespace braidmq::reconcile::testing

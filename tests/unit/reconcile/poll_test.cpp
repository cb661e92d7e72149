// What a poll asks a broker, and which Topics it sends to be looked at.
#include "reconcile/poll.hpp"

#include "world.hpp"

namespace braidmq::reconcile::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const auto& topic = api::topic_type;

struct poll_world : world {
  explicit poll_world(int topics = 0) {
    plain_cluster();
    for (int i = 0; i < topics; ++i) add(fmt::format("t{:04}", i));
    settle(60);
    EXPECT_EQ(state(api::cluster_type, "prod", "Ready"), "True");
    clock.advance(std::chrono::seconds(10));
    settle();
    broker.calls = broker.lists = 0;
  }
  void add(const std::string& name, const std::string& more = "") {
    apply(topic, fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{"clusterRef": {{"name": "prod"}}{}}}}})",
                             name, more));
  }
  // The names of the Topics that have to be looked at.
  std::vector<std::string> poll() {
    sync();
    std::vector<std::string> names;
    for (const auto& key : poll_broker(env(), {"shop", "prod"}).topics) names.push_back(key.name);
    return names;
  }
};

TEST(poll, of_a_log_that_has_not_moved_asks_for_no_topic) {
  poll_world w(5);
  EXPECT_THAT(w.poll(), IsEmpty());
  EXPECT_EQ(w.broker.calls, 1);
}

TEST(poll, asks_once_for_all_topics_and_names_those_that_differ) {
  poll_world w(20);
  auto& grown = w.broker.topics.at("t0007");
  grown.partitions = 9;
  grown.changed_index = ++w.broker.metadata_index;
  w.broker.drop_topic("t0011");
  w.broker.drop_topic("t0012");
  w.broker.put_topic("t0012", 1);
  w.broker.put_topic("another", 1);
  w.broker.put_topic("zzz", 1);
  EXPECT_THAT(w.poll(), ElementsAre("t0007", "t0011", "t0012"));
  EXPECT_EQ(w.broker.calls, 2) << "one for the cluster, one for its topics";
  EXPECT_THAT(w.poll(), IsEmpty());
  EXPECT_EQ(w.broker.calls, 3);
}

TEST(poll, asks_page_by_page) {
  poll_world w(3);
  for (int i = 0; i < 1001; ++i) w.broker.put_topic(fmt::format("a{:04}", i), 1);
  w.broker.topics.at("t0002").changed_index = ++w.broker.metadata_index;
  EXPECT_THAT(w.poll(), ElementsAre("t0002"));
  EXPECT_EQ(w.broker.lists, 5);
  ASSERT_TRUE(w.reconcile(topic, "t0002"));
  w.broker.put_topic("b", 1);
  EXPECT_THAT(w.poll(), IsEmpty());
}

TEST(poll, without_topics_asks_for_none) {
  poll_world w;
  w.broker.put_topic("another", 1);
  EXPECT_THAT(w.poll(), IsEmpty());
  EXPECT_EQ(w.broker.lists, 0);
}

TEST(poll, looks_at_what_a_topic_waits_for) {
  poll_world w;
  w.add("owner", R"(, "topicName": "o")");
  w.settle();
  w.clock.advance(std::chrono::seconds(5));
  w.add("conflict", R"(, "topicName": "o")");
  w.add("observed", R"(, "management": "Observe")");
  w.add("paused", R"(, "management": "Paused")");
  w.add("refused", R"(, "config": {"bogus": "1"})");
  w.add("new");
  w.broker.put_topic("other", 1);
  EXPECT_THAT(w.poll(), UnorderedElementsAre("conflict", "observed", "refused", "new")) << "nobody has looked yet";
  w.settle();
  w.broker.put_topic("other2", 1);
  EXPECT_THAT(w.poll(), IsEmpty()) << "of those in trouble nothing has changed";
  w.broker.put_topic("observed", 4);
  EXPECT_THAT(w.poll(), ElementsAre("observed"));
}

TEST(poll, a_broker_that_is_new_is_asked_again_by_all_in_trouble) {
  poll_world w(3);
  w.add("refused", R"(, "config": {"bogus": "1"})");
  w.settle();
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.run_controllers();
  EXPECT_THAT(w.poll(), ElementsAre("refused"));
}

TEST(poll, after_a_silence_those_that_waited_are_looked_at) {
  poll_world w(3);
  w.broker.reachable = false;
  for (int i = 0; i < 8; ++i) w.round();
  ASSERT_EQ(w.reason(topic, "t0001", "Ready"), "ClusterNotReady");
  w.broker.reachable = true;
  EXPECT_THAT(w.poll(), ElementsAre("t0000", "t0001", "t0002"));
}

TEST(poll, a_list_that_fails_is_asked_for_again) {
  poll_world w(3);
  w.broker.topics.at("t0001").changed_index = ++w.broker.metadata_index;
  w.broker.lists_topics = false;
  EXPECT_THAT(w.poll(), IsEmpty());
  EXPECT_EQ(w.env().brokers.find({"shop", "prod"})->failures, 1);
  w.broker.lists_topics = true;
  EXPECT_THAT(w.poll(), ElementsAre("t0001"));
}

TEST(poll, of_another_namespaces_topics_knows_nothing) {
  poll_world w(1);
  w.api.put(topic, json::parse(R"({"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic",
    "metadata": {"name": "t0000", "namespace": "elsewhere"}, "spec": {"clusterRef": {"name": "prod"}}})"));
  w.broker.topics.at("t0000").changed_index = ++w.broker.metadata_index;
  w.sync();
  const auto found = poll_broker(w.env(), {"shop", "prod"}).topics;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (object_key{"shop", "t0000"}));
}

}  // namespace
}  // namespace braidmq::reconcile::testing

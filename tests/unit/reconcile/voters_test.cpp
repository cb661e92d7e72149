// Clusters of several brokers: who votes, what is started, what is said of those that are missing.
#include "world.hpp"

namespace braidmq::reconcile::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const three_voters = "0=prod-a-0,1=prod-a-1,2=prod-a-2";

void make_three(world& w) {
  w.plain_cluster();
  w.change(api::pool_type, "prod-a", [](json& object) { object["spec"]["replicas"] = 3; });
}

std::string identity_voters(const world& w) {
  return w.read(api::config_map_type, "prod-identity").value()["data"]["voters"].get<std::string>();
}

TEST(voters, three_brokers_of_one_pool_come_up) {
  world w;
  make_three(w);
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  EXPECT_EQ(w.state(api::cluster_type, "prod", "Degraded"), "False");
  EXPECT_EQ(w.state(api::cluster_type, "prod", "RollSafe"), "True");
  EXPECT_EQ(identity_voters(w), three_voters);
  EXPECT_TRUE(w.read(api::budget_type, "prod"));
  const auto set = w.read(api::stateful_set_type, "prod-a").value();
  EXPECT_THAT(
      set["spec"]["template"]["spec"]["containers"][0]["args"].dump(),
      AllOf(HasSubstr("controller.quorum.voters=0@prod-a-0.prod-brokers.shop.svc.cluster.local:9095,1@prod-a-1."),
            HasSubstr("controller.listener=:9095"), HasSubstr("braid.listener=:9094")));
  EXPECT_THAT(w.read(api::network_policy_type, "prod").value()["spec"].dump(), HasSubstr("9095"));
}

TEST(voters, are_spread_over_pools_that_come_one_after_the_other) {
  world w;
  w.plain_cluster();
  w.round();
  w.apply(api::pool_type, R"({"metadata": {"name": "prod-b"}, "spec": {"clusterRef": {"name": "prod"}, "index": 1,
                              "replicas": 3, "storage": {"size": "10Gi"}}})");
  w.settle();
  EXPECT_EQ(identity_voters(w), "0=prod-a-0,1000=prod-b-0,1001=prod-b-1");
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-b").value()["spec"]["replicas"], 2);
  EXPECT_THAT(w.message(api::pool_type, "prod-b", "ChangePending"), HasSubstr("broker 1002 would carry no braid"));
}

TEST(voters, taking_one_away_is_refused) {
  world w;
  make_three(w);
  w.settle();
  w.change(api::pool_type, "prod-a", [](json& object) { object["spec"]["replicas"] = 1; });
  w.settle();
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 3);
  EXPECT_THAT(w.message(api::pool_type, "prod-a", "ChangePending"),
              AllOf(HasSubstr("brokers 1, 2 vote"), HasSubstr("set it back to 3")));
}

TEST(voters, are_found_again_without_config_map_and_status) {
  world w;
  make_three(w);
  w.settle();
  const auto id = w.broker.cluster_id;
  w.api.erase(api::config_map_type, {"shop", "prod-identity"});
  w.change(api::cluster_type, "prod", [](json& object) { object.erase("status"); });
  w.change(api::pool_type, "prod-a", [](json& object) { object["spec"]["replicas"] = 5; });
  w.restart_operator();
  w.settle();
  EXPECT_EQ(identity_voters(w), three_voters);
  const auto data = w.read(api::config_map_type, "prod-identity").value()["data"];
  EXPECT_EQ(data["cluster.id"], id);
  EXPECT_EQ(data["braid.bootstrap"], "existing");
}

TEST(voters, too_few_brokers_make_nothing) {
  world w;
  w.plain_cluster();
  w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["braidReplicas"] = 3; });
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Stalled"), "TooFewBrokers");
  EXPECT_EQ(w.api.read_all(api::stateful_set_type).size(), 0U);
  EXPECT_EQ(w.api.read_all(api::config_map_type).size(), 0U);
}

}  // namespace
}  // namespace braidmq::reconcile::testing

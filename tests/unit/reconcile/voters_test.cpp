// Clusters of several brokers: who votes, what is started, what is said of those that are missing.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

json identity_data(const world& w) {
  return w.read(api::config_map_type, "prod-identity").value()["data"];
}

std::string identity_voters(const world& w) {
  return identity_data(w)["voters"].get<std::string>();
}

// A container that ends and is started again in its pod.
void restart_broker(world& w, const std::string& pod) {
  w.brokers.stop(pod);
  w.settle();
}

void expect_one_founding(const world& w) {
  ASSERT_EQ(w.brokers.founded().size(), 1U);
  const auto& founding = w.brokers.founded().front();
  EXPECT_EQ(identity_data(w)["cluster.id"], founding.cluster_id.to_string());
  std::string ids;
  for (const auto& voter : founding.voters) ids += fmt::format("{} ", voter.broker);
  EXPECT_EQ(ids, "0 1 2 ");
}

TEST(voters, three_brokers_of_one_pool_come_up) {
  world w;
  make_three(w);
  w.settle();
  expect_one_founding(w);
  EXPECT_EQ(identity_data(w)["braid.bootstrap"], "existing");
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
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  EXPECT_THAT(w.message(api::pool_type, "prod-a", "ChangePending"),
              AllOf(HasSubstr("brokers 1, 2 vote"), HasSubstr("set it back to 3")));
}

TEST(voters, are_found_again_without_config_map_and_status) {
  world w;
  make_three(w);
  w.settle();
  const auto id = identity_data(w)["cluster.id"].get<std::string>();
  w.api.erase(api::config_map_type, {"shop", "prod-identity"});
  w.change(api::cluster_type, "prod", [](json& object) { object.erase("status"); });
  w.change(api::pool_type, "prod-a", [](json& object) { object["spec"]["replicas"] = 5; });
  w.restart_operator();
  w.settle();
  EXPECT_EQ(identity_voters(w), three_voters);
  const auto data = w.read(api::config_map_type, "prod-identity").value()["data"];
  EXPECT_EQ(data["cluster.id"], id);
  EXPECT_EQ(data["braid.bootstrap"], "existing");
  expect_one_founding(w);
}

TEST(voters, found_their_cluster_in_whatever_order_their_pods_start) {
  std::vector<std::string> order = {"prod-a-0", "prod-a-1", "prod-a-2"};
  do {
    world w;
    make_three(w);
    w.kept_away.insert(order.begin(), order.end());
    w.settle();
    for (const auto& pod : order) {
      SCOPED_TRACE(fmt::format("{} of {}", pod, fmt::join(order, " ")));
      EXPECT_EQ(w.brokers.founded().size(), 0U);
      EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersNotReady");
      EXPECT_EQ(identity_data(w)["braid.bootstrap"], "initial");
      w.kept_away.erase(pod);
      w.settle();
    }
    expect_one_founding(w);
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
    EXPECT_EQ(identity_data(w)["braid.bootstrap"], "existing");
  } while (std::ranges::next_permutation(order).found);
}

TEST(voters, one_that_is_missing_at_birth_is_named_and_nobody_serves) {
  for (const int missing : {0, 1, 2}) {
    world w;
    make_three(w);
    const auto pod = fmt::format("prod-a-{}", missing);
    SCOPED_TRACE(pod);
    w.kept_away.insert(pod);
    w.settle();
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersNotReady");
    EXPECT_EQ(w.state(api::cluster_type, "prod", "Degraded"), "True");
    EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"),
                AllOf(HasSubstr(fmt::format("broker {} ({})", missing, pod)),
                      HasSubstr(fmt::format("the first start needs all voters: broker {} is missing", missing))));
    EXPECT_EQ(w.state(api::cluster_type, "prod", "RollSafe"), "False");
    w.restart_operator();
    w.settle();
    EXPECT_EQ(identity_voters(w), three_voters);
    EXPECT_EQ(w.brokers.founded().size(), 0U);
  }
}

TEST(voters, one_that_is_missing_after_birth_is_named_and_the_others_serve) {
  for (const int missing : {0, 1, 2}) {
    world w;
    make_three(w);
    w.settle();
    const auto pod = fmt::format("prod-a-{}", missing);
    SCOPED_TRACE(pod);
    w.kept_away.insert(pod);
    w.settle();
    w.clock.advance(std::chrono::seconds(10));
    w.settle();
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "MajorityReady");
    EXPECT_EQ(w.state(api::cluster_type, "prod", "Degraded"), "True");
    EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"),
                AllOf(HasSubstr("2 of 3 brokers are ready"), HasSubstr(fmt::format("broker {} ({})", missing, pod))));
    EXPECT_EQ(w.state(api::cluster_type, "prod", "Healthy"), "False");
    EXPECT_EQ(w.state(api::cluster_type, "prod", "RollSafe"), "False");
    w.kept_away.clear();
    w.settle();
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
    EXPECT_EQ(w.state(api::cluster_type, "prod", "Degraded"), "False");
    expect_one_founding(w);
  }
}

TEST(voters, a_minority_does_not_serve) {
  world w;
  make_three(w);
  w.settle();
  w.kept_away = {"prod-a-0", "prod-a-2"};
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersNotReady");
  EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"),
              AllOf(HasSubstr("broker 0 (prod-a-0)"), HasSubstr("broker 1 (prod-a-1: nobody is known to lead)"),
                    HasSubstr("broker 2 (prod-a-2)")));
  w.kept_away.clear();
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  expect_one_founding(w);
}

// Whose volume is empty must not take part: its vote, and what it had acknowledged, are gone.
TEST(voters, an_empty_volume_stays_out_and_is_named) {
  for (const int lost : {0, 1, 2}) {
    world w;
    make_three(w);
    w.settle();
    const auto pod = fmt::format("prod-a-{}", lost);
    SCOPED_TRACE(pod);
    w.lose_volume(pod);
    w.settle();
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "MajorityReady");
    EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"),
                HasSubstr("the folders here are not those of that broker"));
    EXPECT_EQ(identity_voters(w), three_voters);
    expect_one_founding(w);
  }
}

TEST(voters, those_that_crash_are_named_with_the_end_of_their_last_words) {
  world w;
  w.crash_message = "starting\nbraid-broker: wal.dir: no space left on device";
  make_three(w);
  w.settle();
  for (const int id : {0, 1, 2}) {
    EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"),
                HasSubstr(fmt::format("broker {0} (prod-a-{0}: braid-broker: wal.dir: no space left", id)));
  }
}

TEST(voters, two_empty_volumes_found_no_second_cluster) {
  for (const int kept : {0, 1, 2}) {
    world w;
    make_three(w);
    w.settle();
    SCOPED_TRACE(kept);
    for (int i = 0; i < 3; ++i) {
      if (i != kept) w.lose_volume(fmt::format("prod-a-{}", i));
    }
    w.settle();
    w.restart_operator();
    w.settle();
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersNotReady");
    EXPECT_EQ(identity_data(w)["braid.bootstrap"], "existing");
    expect_one_founding(w);
    // Not while the one that knows is away, either.
    w.kept_away.insert(fmt::format("prod-a-{}", kept));
    w.settle();
    expect_one_founding(w);
  }
}

TEST(voters, empty_volumes_of_all_found_no_second_cluster) {
  world w;
  make_three(w);
  w.settle();
  for (int i = 0; i < 3; ++i) w.lose_volume(fmt::format("prod-a-{}", i));
  w.settle();
  w.api.erase(api::config_map_type, {"shop", "prod-identity"});
  w.restart_operator();
  w.settle();
  for (int i = 0; i < 3; ++i) restart_broker(w, fmt::format("prod-a-{}", i));
  EXPECT_EQ(w.brokers.founded().size(), 1U);
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersNotReady");
  EXPECT_THAT(w.message(api::cluster_type, "prod", "Degraded"), HasSubstr("no voter knows of a cluster"));
}

// All that an operator has of its own is gone, and a volume with it.
TEST(voters, an_operator_that_lost_everything_with_a_volume_chooses_no_others) {
  for (const int lost : {0, 1, 2}) {
    world w;
    make_three(w);
    w.settle();
    const auto id = identity_data(w)["cluster.id"];
    SCOPED_TRACE(lost);
    w.lose_volume(fmt::format("prod-a-{}", lost));
    w.api.erase(api::config_map_type, {"shop", "prod-identity"});
    w.change(api::cluster_type, "prod", [](json& object) { object.erase("status"); });
    w.apply(api::pool_type, R"({"metadata": {"name": "prod-b"}, "spec": {"clusterRef": {"name": "prod"}, "index": 1,
                                "replicas": 3, "storage": {"size": "10Gi"}}})");
    w.restart_operator();
    w.settle();
    EXPECT_EQ(identity_voters(w), three_voters);
    EXPECT_EQ(identity_data(w)["cluster.id"], id);
    EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "MajorityReady");
    expect_one_founding(w);
  }
}

TEST(voters, of_a_cluster_that_is_deleted_are_found_again) {
  world w;
  make_three(w);
  w.settle();
  const auto id = identity_data(w)["cluster.id"];
  w.erase(api::cluster_type, "prod");
  w.settle();
  EXPECT_EQ(w.api.read_all(api::pod_type).size(), 0U);
  w.apply(api::cluster_type, R"({"metadata": {"name": "prod"}, "spec": {}})");
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  EXPECT_EQ(identity_data(w)["cluster.id"], id);
  expect_one_founding(w);
}

// Before the founding, too: a broker that has started may have prepared one with those that are named.
TEST(voters, taking_one_away_before_the_founding_is_refused) {
  world w;
  make_three(w);
  w.kept_away.insert("prod-a-2");
  w.settle();
  w.change(api::pool_type, "prod-a", [](json& object) { object["spec"]["replicas"] = 1; });
  w.settle();
  EXPECT_THAT(w.message(api::cluster_type, "prod", "ChangePending"), HasSubstr("set it back to 3"));
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 3);
  w.kept_away.clear();
  w.settle();
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  expect_one_founding(w);
}

TEST(voters, a_pool_may_be_stopped_before_the_founding) {
  world w;
  make_three(w);
  w.kept_away.insert("prod-a-2");
  w.settle();
  const auto replicas = [&w](int wanted) {
    w.change(api::pool_type, "prod-a", [wanted](json& object) { object["spec"]["replicas"] = wanted; });
    w.settle();
    return w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"].get<int>();
  };
  EXPECT_EQ(replicas(0), 0);
  EXPECT_NE(w.state(api::cluster_type, "prod", "Ready"), "True");
  EXPECT_EQ(identity_voters(w), three_voters);
  w.kept_away.clear();
  EXPECT_EQ(replicas(3), 3);
  EXPECT_EQ(w.reason(api::cluster_type, "prod", "Ready"), "BrokersReady");
  expect_one_founding(w);
  EXPECT_EQ(replicas(0), 3) << "and not after it";
}

TEST(voters, each_is_told_its_own_address_outside) {
  world w;
  make_three(w);
  w.change(api::cluster_type, "prod", [](json& object) {
    object["spec"]["listeners"] = json::parse(R"([{"name": "internal", "port": 9092, "type": "internal"},
      {"name": "outside", "port": 9093, "type": "nodeport",
       "nodePorts": [{"broker": 0, "nodePort": 31000}, {"broker": 1, "nodePort": 31001},
                     {"broker": 2, "nodePort": 31002}]}])");
  });
  w.settle();
  ASSERT_EQ(w.broker.member_listeners.size(), 3U);
  for (const int id : {0, 1, 2}) {
    const admin_client::listener_info wanted{
        .name = "OUTSIDE", .host = fmt::format("192.168.1.{}", 9 + id), .port = static_cast<std::uint16_t>(31000 + id)};
    EXPECT_EQ(w.broker.member_listeners[id], std::vector{wanted});
  }
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

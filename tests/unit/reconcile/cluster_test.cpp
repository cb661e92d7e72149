// BraidCluster and BraidPool: what is made, what is said, and what is left alone.
#include <set>

#include "resources/compare.hpp"
#include "resources/network_policy.hpp"
#include "world.hpp"

namespace braidmq::reconcile::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto& cluster = api::cluster_type;
const auto& pool = api::pool_type;

TEST(cluster, comes_up) {
  world w;
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True") << w.message(cluster, "prod", "Ready");
  EXPECT_EQ(w.state(cluster, "prod", "Healthy"), "True");
  EXPECT_EQ(w.state(cluster, "prod", "ConfigApplied"), "True");
  EXPECT_EQ(w.state(cluster, "prod", "ChangePending"), "False");
  EXPECT_EQ(w.state(cluster, "prod", "Reconciling"), "False");
  EXPECT_EQ(w.state(cluster, "prod", "Stalled"), "False");
  EXPECT_EQ(w.reason(cluster, "prod", "RollSafe"), "OnlyBroker");
  EXPECT_EQ(w.state(pool, "prod-a", "Ready"), "True");
  const auto status = w.read(cluster, "prod").value()["status"];
  EXPECT_EQ(status["brokersReady"], "1/1");
  EXPECT_EQ(status["clusterId"], w.broker.cluster_id);
  EXPECT_EQ(status["version"], "0.1.0");
  EXPECT_EQ(status["image"], "braidmq:default");
  EXPECT_EQ(status["listeners"][0]["bootstrap"], "prod-bootstrap.shop.svc.cluster.local:9092");
  EXPECT_EQ(status["brokers"][0]["state"], "Running");
  EXPECT_EQ(status["brokers"][0]["incarnation"], "life-1");
  const auto pool_status = w.read(pool, "prod-a").value()["status"];
  EXPECT_EQ(pool_status["readyReplicas"], 1);
  EXPECT_EQ(pool_status["updatedReplicas"], 1);
  EXPECT_EQ(pool_status["brokerIds"], json::array({0}));
  EXPECT_EQ(pool_status["storage"]["requested"], "10Gi");
  for (const char* name : {"prod-brokers", "prod-bootstrap"}) EXPECT_TRUE(w.read(api::service_type, name)) << name;
  EXPECT_TRUE(w.read(api::network_policy_type, "prod"));
  EXPECT_TRUE(w.read(api::pod_monitor_type, "prod"));
  EXPECT_FALSE(w.read(api::budget_type, "prod"));
  EXPECT_TRUE(w.told("ClusterFounded"));
}

TEST(cluster, is_founded_once_and_for_ever) {
  world w;
  w.plain_cluster();
  for (int i = 0; i < 3; ++i) w.round();  // pools that come together are waited for
  const auto identity = w.read(api::config_map_type, "prod-identity").value();
  EXPECT_EQ(identity["data"]["braid.bootstrap"], "initial");
  EXPECT_FALSE(identity["metadata"].contains("ownerReferences"));
  w.settle();
  EXPECT_EQ(w.read(api::config_map_type, "prod-identity").value()["data"]["braid.bootstrap"], "existing");
  EXPECT_THAT(w.read(api::config_map_type, "prod-config").value()["data"]["broker.yaml"].get<std::string>(),
              HasSubstr("braid.bootstrap: \"existing\""));
  const auto id = w.broker.cluster_id;
  w.api.erase(api::config_map_type, {"shop", "prod-identity"});
  w.settle();
  const auto again = w.read(api::config_map_type, "prod-identity").value();
  EXPECT_EQ(again["data"]["cluster.id"], id);
  EXPECT_EQ(again["data"]["braid.bootstrap"], "existing");
}

TEST(cluster, that_is_quiet_writes_nothing) {
  world w;
  w.plain_cluster();
  w.apply(api::topic_type,
          R"({"metadata": {"name": "orders"}, "spec": {"clusterRef": {"name": "prod"}, "partitions": 3}})");
  w.settle();
  ASSERT_EQ(w.state(cluster, "prod", "Ready"), "True");
  w.api.clear_writes();
  const auto broker_writes = w.broker.writes;
  for (int i = 0; i < 60; ++i) w.round();
  EXPECT_EQ(w.api.writes().size(), 0U) << w.api.writes().front().plural << " " << w.api.writes().front().body;
  EXPECT_EQ(w.broker.writes, broker_writes);
  const auto again = w.reconcile(cluster, "prod");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->again_after.has_value());
  w.restart_operator();  // and a restart of the operator changes nothing either
  for (int i = 0; i < 10; ++i) w.round();
  EXPECT_EQ(w.api.writes().size(), 0U) << w.api.writes().front().plural << " " << w.api.writes().front().body;
}

TEST(cluster, drift_of_an_object_is_set_back) {
  world w;
  w.plain_cluster();
  w.settle();
  auto service = w.read(api::service_type, "prod-bootstrap").value();
  service["spec"]["ports"][0]["port"] = 1;
  w.api.put(api::service_type, service);
  w.api.erase(api::service_type, {"shop", "prod-brokers"});
  w.settle();
  EXPECT_EQ(w.read(api::service_type, "prod-bootstrap").value()["spec"]["ports"][0]["port"], 9092);
  EXPECT_TRUE(w.read(api::service_type, "prod-brokers"));
}

TEST(cluster, somebody_elses_object_is_not_taken_over) {
  world w;
  w.api.put(api::service_type, json::parse(R"({"apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "prod-bootstrap", "namespace": "shop"}, "spec": {"ports": [{"port": 80}]}})"));
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Stalled"), "NameTaken");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), HasSubstr("Service shop/prod-bootstrap is not this operator's"));
  EXPECT_EQ(w.read(api::service_type, "prod-bootstrap").value()["spec"]["ports"][0]["port"], 80);
}

TEST(cluster, the_secret_is_made_once_and_never_changed) {
  world w;
  w.plain_cluster();
  w.settle();
  auto secret = w.read(api::secret_type, "prod-secret").value();
  secret["data"] = {{"secret", "b25lIG9mIG15IG93biwgb2YgbW9yZSB0aGFuIDMyIGJ5dGVz"}};
  w.api.put(api::secret_type, secret);
  w.settle();
  EXPECT_EQ(w.read(api::secret_type, "prod-secret").value()["data"], secret["data"]);
}

TEST(cluster, without_a_pool_says_so) {
  world w;
  w.apply(cluster, R"({"metadata": {"name": "prod"}, "spec": {}})");
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Ready"), "NoPool");
  EXPECT_EQ(w.state(cluster, "prod", "Stalled"), "True");
  EXPECT_EQ(w.api.read_all(api::service_type).size(), 0U);
  EXPECT_EQ(w.api.read_all(api::config_map_type).size(), 0U);
}

TEST(cluster, a_second_pool_leaves_the_one_that_runs_alone) {
  world w;
  w.plain_cluster();
  w.settle();
  w.apply(pool, R"({"metadata": {"name": "prod-b"}, "spec": {"clusterRef": {"name": "prod"}, "index": 1,
                    "storage": {"size": "10Gi"}}})");
  w.settle();
  EXPECT_EQ(w.reason(pool, "prod-b", "Stalled"), "CarriesNoBraid");
  EXPECT_THAT(w.message(pool, "prod-b", "Ready"), HasSubstr("broker 1000 of this pool"));
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
  EXPECT_EQ(w.state(cluster, "prod", "ChangePending"), "True");
  EXPECT_EQ(w.api.read_all(api::stateful_set_type).size(), 1U);
}

TEST(cluster, wrong_config_is_named_and_nothing_is_made) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["config"]["num.partition"] = "3"; });
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "ConfigApplied"), "InvalidConfig");
  EXPECT_EQ(w.state(cluster, "prod", "Stalled"), "True");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), HasSubstr("did you mean \"num.partitions\""));
  EXPECT_EQ(w.api.read_all(api::stateful_set_type).size(), 0U);
}

TEST(cluster, wrong_config_of_a_running_cluster_changes_nothing) {
  world w;
  w.plain_cluster();
  w.settle();
  const auto before = w.read(api::config_map_type, "prod-config").value();
  w.change(cluster, "prod", [](json& object) { object["spec"]["config"]["bogus"] = "3"; });
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "ConfigApplied"), "InvalidConfig");
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
  EXPECT_EQ(w.read(api::config_map_type, "prod-config").value(), before);
}

TEST(cluster, changed_config_waits_for_a_restart) {
  world w;
  w.plain_cluster();
  w.settle();
  w.change(cluster, "prod", [](json& object) { object["spec"]["config"]["num.partitions"] = "3"; });
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "ConfigApplied"), "RestartNeeded");
  EXPECT_THAT(w.message(cluster, "prod", "ConfigApplied"), HasSubstr("kubectl -n shop delete pod prod-a-0"));
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "ConfigApplied"), "True");
}

TEST(cluster, that_is_paused_is_left_alone) {
  world w;
  w.plain_cluster();
  w.settle();
  w.change(cluster, "prod", [](json& object) { object["spec"]["paused"] = true; });
  w.api.erase(api::service_type, {"shop", "prod-bootstrap"});
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Reconciling"), "Paused");
  EXPECT_FALSE(w.read(api::service_type, "prod-bootstrap"));
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
}

TEST(cluster, changes_without_a_procedure_are_pending) {
  world w;
  w.plain_cluster();
  w.settle();
  const auto before = w.read(api::stateful_set_type, "prod-a").value()["spec"];
  w.change(cluster, "prod", [](json& object) { object["spec"]["image"] = "braidmq:new"; });
  w.change(pool, "prod-a", [](json& object) {
    object["spec"]["replicas"] = 3;
    object["spec"]["storage"]["size"] = "20Gi";
  });
  w.settle();
  EXPECT_EQ(w.state(pool, "prod-a", "ChangePending"), "True");
  EXPECT_THAT(w.message(cluster, "prod", "ChangePending"),
              AllOf(HasSubstr("spec.replicas from 1 to 3"), HasSubstr("image from braidmq:default to braidmq:new"),
                    HasSubstr("storage \"data\" from 10Gi to 20Gi"), HasSubstr("set it back to 1")));
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"], before);
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
  w.change(cluster, "prod", [](json& object) { object["spec"].erase("image"); });
  w.change(pool, "prod-a", [](json& object) {
    object["spec"]["replicas"] = 1;
    object["spec"]["storage"]["size"] = "10240Mi";
  });
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "ChangePending"), "False") << w.message(cluster, "prod", "ChangePending");
}

// Each of three would found the cluster for itself: three logs under one id.
TEST(cluster, does_not_grow_before_it_is_founded) {
  world w;
  w.bad_image = "braidmq:default";
  w.plain_cluster();
  w.settle();
  ASSERT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 1);
  w.change(pool, "prod-a", [](json& object) { object["spec"]["replicas"] = 3; });
  w.settle();
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 1);
  EXPECT_THAT(w.message(cluster, "prod", "ChangePending"), HasSubstr("spec.replicas from 1 to 3"));
  w.bad_image.clear();
  w.settle();
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 1);
}

// A change of replicas that is held back is held back for what leads to the brokers, too.
TEST(cluster, a_pending_change_of_replicas_keeps_the_services) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) {
    object["spec"]["listeners"] = json::parse(R"([{"name": "internal", "port": 9092, "type": "internal"},
                                                  {"name": "outside", "port": 9093, "type": "nodeport"}])");
  });
  w.settle();
  const auto uid = w.read(api::service_type, "prod-a-0-outside").value()["metadata"]["uid"];
  for (const int replicas : {0, 3}) {
    w.change(pool, "prod-a", [replicas](json& object) { object["spec"]["replicas"] = replicas; });
    w.settle();
    EXPECT_EQ(w.read(api::service_type, "prod-a-0-outside").value()["metadata"]["uid"], uid);
    EXPECT_FALSE(w.read(api::service_type, "prod-a-1-outside"));
    EXPECT_EQ(w.state(cluster, "prod", "ChangePending"), "True");
  }
}

// Until the broker is started again it listens where it did, and clients must get there.
TEST(cluster, changed_listeners_leave_the_way_to_a_broker_that_has_the_old_ones) {
  world w;
  w.plain_cluster();
  w.settle();
  const auto service = w.read(api::service_type, "prod-bootstrap").value()["spec"];
  w.change(cluster, "prod", [](json& object) {
    object["spec"]["listeners"] = json::parse(R"([{"name": "kafka", "port": 9094, "type": "internal"}])");
  });
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "ConfigApplied"), "RestartNeeded");
  EXPECT_EQ(w.read(api::service_type, "prod-bootstrap").value()["spec"], service);
  const auto admitted = [&w] { return resources::admitted_ports(w.read(api::network_policy_type, "prod").value()); };
  EXPECT_EQ(admitted(), (std::set<int>{9092, 9094}));
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "ConfigApplied"), "True");
  EXPECT_EQ(w.read(api::service_type, "prod-bootstrap").value()["spec"]["ports"][0]["port"], 9094);
  EXPECT_EQ(admitted(), (std::set<int>{9094}));
}

TEST(cluster, without_a_broker_that_runs_is_not_called_healthy) {
  world w;
  w.plain_cluster();
  w.settle();
  ASSERT_EQ(w.state(cluster, "prod", "Healthy"), "True");
  w.schedule = false;
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Healthy"), "Unknown");
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "False");
}

TEST(cluster, resources_of_a_running_pool_are_written_and_ask_for_a_restart) {
  world w;
  w.plain_cluster();
  w.settle();
  w.change(pool, "prod-a", [](json& object) { object["spec"]["resources"]["limits"]["memory"] = "4Gi"; });
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "ConfigApplied"), "RestartNeeded");
  EXPECT_EQ(w.state(cluster, "prod", "ChangePending"), "False");
}

TEST(cluster, an_image_that_does_not_start_is_named_and_can_be_corrected) {
  world w;
  w.bad_image = "braidmq:typo";
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["image"] = "braidmq:typo"; });
  w.settle();
  EXPECT_EQ(w.reason(pool, "prod-a", "Stalled"), "ImageNotStarted");
  EXPECT_EQ(w.state(cluster, "prod", "Stalled"), "True");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), AllOf(HasSubstr("ImagePullBackOff"), HasSubstr("braidmq:typo")));
  EXPECT_TRUE(w.told("ImageNotStarted"));
  w.change(cluster, "prod", [](json& object) { object["spec"]["image"] = "braidmq:good"; });
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True") << w.message(cluster, "prod", "Ready");
  EXPECT_TRUE(w.told("PodReplaced"));
}

TEST(cluster, a_broker_that_crashes_is_quoted) {
  world w;
  w.crash_message = "wal.dir: no space left on device";
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Stalled"), "CrashLoop");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), HasSubstr("no space left on device"));
}

TEST(cluster, an_unschedulable_pod_has_the_schedulers_words) {
  world w;
  w.schedule = false;
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.state(pool, "prod-a", "Stalled"), "False") << "it has been so for a moment only";
  const auto again = w.reconcile(pool, "prod-a");
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->again_after.has_value());
  EXPECT_LE(*again->again_after, std::chrono::seconds(10));
  w.clock.advance(*again->again_after);
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Stalled"), "Unschedulable");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), HasSubstr("didn't match pod anti-affinity rules"));
  w.schedule = true;
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
}

TEST(cluster, a_missing_storage_class_is_named) {
  world w;
  w.schedule = false;
  w.unscheduled = "pod has unbound immediate PersistentVolumeClaims";
  w.plain_cluster();
  w.change(pool, "prod-a", [](json& object) { object["spec"]["storage"]["storageClassName"] = "nope"; });
  for (int i = 0; i < 3; ++i) w.round();
  w.run_controllers();
  auto claim = w.read(api::claim_type, "data-prod-a-0").value();
  claim["status"]["phase"] = "Pending";
  w.api.put(api::claim_type, claim);
  w.api.put(api::core_event_type, {{"apiVersion", "v1"},
                                   {"kind", "Event"},
                                   {"type", "Warning"},
                                   {"metadata", {{"name", "e1"}, {"namespace", "shop"}}},
                                   {"involvedObject", {{"uid", claim["metadata"]["uid"]}}},
                                   {"lastTimestamp", "2026-11-29T20:55:05Z"},
                                   {"message", "storageclass.storage.k8s.io \"nope\" not found"}});
  w.settle();
  w.clock.advance(std::chrono::seconds(10));
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Stalled"), "StorageClassMissing");
  EXPECT_THAT(w.message(cluster, "prod", "Ready"), HasSubstr("Create StorageClass \"nope\""));
}

TEST(cluster, one_failed_call_flips_nothing) {
  world w;
  w.plain_cluster();
  w.settle();
  w.api.clear_writes();
  w.broker.unreachable_times = 2;
  for (int i = 0; i < 4; ++i) w.round();
  EXPECT_EQ(w.api.writes().size(), 0U);
  w.broker.reachable = false;
  w.round();
  w.round();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
  w.round();
  w.round();
  EXPECT_EQ(w.reason(cluster, "prod", "Ready"), "BrokerUnreachable");
  EXPECT_EQ(w.state(cluster, "prod", "Healthy"), "Unknown");
  EXPECT_EQ(w.read(cluster, "prod").value()["status"]["version"], "0.1.0");
  w.broker.reachable = true;
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True");
}

TEST(cluster, a_log_without_leader_is_not_healthy) {
  world w;
  w.plain_cluster();
  w.settle();
  w.broker.has_leader = false;
  w.settle();
  EXPECT_EQ(w.reason(cluster, "prod", "Healthy"), "NoLeader");
}

TEST(cluster, tells_brokers_their_address_outside) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) {
    object["spec"]["listeners"] = json::parse(R"([{"name": "internal", "port": 9092, "type": "internal"},
      {"name": "outside", "port": 9093, "type": "nodeport", "nodePorts": [{"broker": 0, "nodePort": 31234}]}])");
  });
  w.settle();
  ASSERT_EQ(w.broker.listeners.size(), 1U);
  EXPECT_EQ(w.broker.listeners[0],
            (admin_client::listener_info{.name = "OUTSIDE", .host = "192.168.1.9", .port = 31234}));
  EXPECT_THAT(w.read(cluster, "prod").value()["status"]["listeners"][1]["bootstrap"].get<std::string>(),
              HasSubstr("192.168.1.9:3"));
  w.broker.listeners[0].port = 1;  // somebody else told it
  w.settle();
  EXPECT_EQ(w.broker.listeners[0].port, 31234);
  w.change(cluster, "prod", [](json& object) { object["spec"]["listeners"].erase(1); });
  w.settle();
  EXPECT_TRUE(w.read(api::service_type, "prod-a-0-outside")) << "the broker still has the listener";
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.settle();
  EXPECT_FALSE(w.read(api::service_type, "prod-a-0-outside"));
  EXPECT_FALSE(w.read(api::service_type, "prod-bootstrap-outside"));
}

TEST(cluster, that_is_deleted_keeps_its_data_and_finds_it_again) {
  world w;
  w.plain_cluster();
  w.settle();
  const auto id = w.broker.cluster_id;
  w.erase(cluster, "prod");
  w.settle();
  EXPECT_EQ(w.reason(pool, "prod-a", "Ready"), "ClusterMissing");
  EXPECT_EQ(w.api.read_all(api::stateful_set_type).size(), 0U);
  EXPECT_EQ(w.api.read_all(api::pod_type).size(), 0U);
  EXPECT_TRUE(w.read(api::claim_type, "data-prod-a-0"));
  EXPECT_TRUE(w.read(api::config_map_type, "prod-identity"));
  EXPECT_FALSE(w.read(api::service_type, "prod-bootstrap"));
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.state(cluster, "prod", "Ready"), "True") << w.message(cluster, "prod", "Ready");
  EXPECT_EQ(w.read(cluster, "prod").value()["status"]["clusterId"], id);
}

TEST(cluster, whose_volumes_were_deleted_is_founded_anew_under_another_id) {
  world w;
  w.plain_cluster();
  w.settle();
  const auto id = w.broker.cluster_id;
  w.erase(cluster, "prod");
  w.settle();
  w.api.erase(api::claim_type, {"shop", "data-prod-a-0"});
  w.apply(cluster, R"({"metadata": {"name": "prod"}, "spec": {}})");
  w.run_controllers();
  ASSERT_TRUE(w.reconcile(cluster, "prod"));
  const auto identity = w.read(api::config_map_type, "prod-identity").value();
  EXPECT_NE(identity["data"]["cluster.id"], id);
  EXPECT_EQ(identity["data"]["braid.bootstrap"], "initial");
  EXPECT_TRUE(w.told("IdentityForgotten"));
}

TEST(cluster, deletion_policy_delete_takes_the_volumes_of_this_cluster_alone) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["deletionPolicy"] = "Delete"; });
  w.settle();
  EXPECT_EQ(w.read(cluster, "prod").value()["metadata"]["finalizers"], json::array({"braidmq.io/cluster"}));
  auto foreign = w.read(api::claim_type, "data-prod-a-0").value();
  foreign["metadata"]["name"] = "data-prod-z-0";
  foreign["metadata"]["annotations"]["braidmq.io/cluster-id"] = "another-life";
  foreign["metadata"].erase("uid");
  w.api.put(api::claim_type, foreign);
  w.erase(cluster, "prod");
  w.settle();
  EXPECT_FALSE(w.read(cluster, "prod"));
  EXPECT_FALSE(w.read(api::claim_type, "data-prod-a-0"));
  EXPECT_TRUE(w.read(api::claim_type, "data-prod-z-0"));
  EXPECT_FALSE(w.read(api::config_map_type, "prod-identity"));
}

TEST(cluster, an_abandoned_cluster_is_let_go_with_its_data) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["deletionPolicy"] = "Delete"; });
  w.settle();
  w.change(cluster, "prod", [](json& object) { object["metadata"]["annotations"]["braidmq.io/abandon"] = "true"; });
  w.erase(cluster, "prod");
  w.settle();
  EXPECT_FALSE(w.read(cluster, "prod"));
  EXPECT_TRUE(w.read(api::claim_type, "data-prod-a-0"));
}

TEST(pool, reclaim_delete_takes_its_volumes) {
  world w;
  w.plain_cluster();
  w.change(pool, "prod-a", [](json& object) { object["spec"]["storage"]["reclaim"] = "Delete"; });
  w.settle();
  EXPECT_EQ(w.read(pool, "prod-a").value()["metadata"]["finalizers"], json::array({"braidmq.io/pool"}));
  w.erase(pool, "prod-a");
  w.settle();
  EXPECT_FALSE(w.read(pool, "prod-a"));
  EXPECT_EQ(w.api.read_all(api::claim_type).size(), 0U);
  EXPECT_EQ(w.reason(cluster, "prod", "Ready"), "NoPool");
}

TEST(cluster, a_deletion_that_waits_says_for_what) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["deletionPolicy"] = "Delete"; });
  w.settle();
  w.sync();  // the operator knows on which node the pod is
  w.erase(cluster, "prod");
  ASSERT_TRUE(w.reconcile(cluster, "prod"));
  EXPECT_THAT(w.message(cluster, "prod", "Reconciling"),
              AllOf(HasSubstr("pod prod-a-0 on node node-1"), HasSubstr("StatefulSet prod-a"),
                    HasSubstr("braidmq.io/abandon")));
  EXPECT_EQ(w.reason(cluster, "prod", "Ready"), "DeletionWaits");
  EXPECT_EQ(w.state(cluster, "prod", "Stalled"), "False") << "it has only begun";
  EXPECT_FALSE(w.told("DeletionWaits"));
  EXPECT_TRUE(w.read(cluster, "prod").value()["status"].contains("clusterId"));
  w.clock.advance(std::chrono::seconds(10));
  ASSERT_TRUE(w.reconcile(cluster, "prod"));
  EXPECT_EQ(w.reason(cluster, "prod", "Stalled"), "DeletionWaits");
  EXPECT_TRUE(w.told("DeletionWaits"));
  const auto events = w.events.size();
  const auto writes = w.own_writes();
  w.clock.advance(std::chrono::seconds(10));
  ASSERT_TRUE(w.reconcile(cluster, "prod"));
  EXPECT_EQ(w.events.size(), events);
  EXPECT_EQ(w.own_writes(), writes);
  w.settle();
  EXPECT_FALSE(w.read(cluster, "prod"));
}

TEST(cluster, a_deletion_that_waits_for_a_volume_names_it_and_who_holds_it) {
  world w;
  w.plain_cluster();
  w.change(cluster, "prod", [](json& object) { object["spec"]["deletionPolicy"] = "Delete"; });
  w.settle();
  w.change(api::claim_type, "data-prod-a-0",
           [](json& object) { object["metadata"]["finalizers"] = {"kubernetes.io/pvc-protection"}; });
  w.erase(cluster, "prod");
  w.settle(60);
  EXPECT_THAT(w.message(cluster, "prod", "Ready"),
              HasSubstr("volume claim data-prod-a-0 (finalizers: kubernetes.io/pvc-protection)"));
  w.change(api::claim_type, "data-prod-a-0", [](json& object) { object["metadata"].erase("finalizers"); });
  w.api.erase(api::claim_type, {"shop", "data-prod-a-0"});
  w.settle();
  EXPECT_FALSE(w.read(cluster, "prod"));
}

TEST(pool, a_deletion_that_waits_for_a_pod_that_does_not_end_says_so) {
  world w;
  w.plain_cluster();
  w.change(pool, "prod-a", [](json& object) { object["spec"]["storage"]["reclaim"] = "Delete"; });
  w.settle();
  w.erase(pool, "prod-a");
  // As on a node that is lost: the pod is told to end, and nobody there says that it has.
  w.change(api::pod_type, "prod-a-0", [](json& object) { object["metadata"]["finalizers"] = {"example.org/held"}; });
  ASSERT_TRUE(w.api.remove(api::pod_type, {"shop", "prod-a-0"}, {}));
  ASSERT_TRUE(w.reconcile(pool, "prod-a"));
  ASSERT_TRUE(w.reconcile(pool, "prod-a"));
  EXPECT_THAT(w.message(pool, "prod-a", "Ready"), HasSubstr("pod prod-a-0 on node node-1, which should have ended"));
  EXPECT_EQ(w.state(pool, "prod-a", "Stalled"), "False");
  w.clock.advance(std::chrono::seconds(10));
  ASSERT_TRUE(w.reconcile(pool, "prod-a"));
  EXPECT_EQ(w.reason(pool, "prod-a", "Stalled"), "DeletionWaits");
  EXPECT_TRUE(w.told("DeletionWaits"));
  EXPECT_EQ(w.read(pool, "prod-a").value()["status"]["replicas"], 1);
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.settle();
  EXPECT_FALSE(w.read(pool, "prod-a"));
}

TEST(deletion, that_waits_for_somebody_elses_finalizer_says_so_for_every_kind) {
  world w;
  w.plain_cluster();
  w.apply(api::topic_type, R"({"metadata": {"name": "orders"}, "spec": {"clusterRef": {"name": "prod"}}})");
  w.settle();
  const std::vector<std::pair<const k8s::resource_type*, const char*>> all = {
      {&api::topic_type, "orders"}, {&pool, "prod-a"}, {&cluster, "prod"}};
  for (const auto& [type, name] : all) {
    w.change(*type, name, [](json& object) { object["metadata"]["finalizers"] = {"example.org/theirs"}; });
    w.erase(*type, name);
    const auto soon = w.reconcile(*type, name);
    ASSERT_TRUE(soon);
    EXPECT_EQ(soon->again_after, io::duration(std::chrono::seconds(10)));
    EXPECT_NE(w.reason(*type, name, "Stalled"), "DeletionWaits") << "it has only begun";
    w.clock.advance(std::chrono::seconds(10));
    const auto after = w.reconcile(*type, name);
    ASSERT_TRUE(after);
    EXPECT_FALSE(after->again_after.has_value());
    EXPECT_EQ(w.reason(*type, name, "Stalled"), "DeletionWaits") << name;
    EXPECT_THAT(w.message(*type, name, "Ready"), HasSubstr("finalizer example.org/theirs")) << name;
    EXPECT_TRUE(w.told("DeletionWaits"));
    w.events.clear();
  }
}

TEST(pool, reclaim_retain_keeps_them) {
  world w;
  w.plain_cluster();
  w.settle();
  w.erase(pool, "prod-a");
  w.settle();
  EXPECT_FALSE(w.read(pool, "prod-a"));
  EXPECT_TRUE(w.read(api::claim_type, "data-prod-a-0"));
}

TEST(pool, a_stateful_set_of_the_same_name_is_not_taken_over) {
  world w;
  w.api.put(api::stateful_set_type, json::parse(R"({"apiVersion": "apps/v1", "kind": "StatefulSet",
    "metadata": {"name": "prod-a", "namespace": "shop"},
    "spec": {"replicas": 0, "template": {"spec": {"volumes": []}}, "volumeClaimTemplates": []}})"));
  w.plain_cluster();
  w.settle();
  EXPECT_EQ(w.reason(pool, "prod-a", "Stalled"), "NameTaken");
  EXPECT_EQ(w.read(api::stateful_set_type, "prod-a").value()["spec"]["replicas"], 0);
}

TEST(pool, a_refused_pod_is_named) {
  world w;
  w.plain_cluster();
  for (int i = 0; i < 3; ++i) w.round();
  w.round();
  const auto set = w.read(api::stateful_set_type, "prod-a").value();
  w.api.erase(api::pod_type, {"shop", "prod-a-0"});
  w.api.put(api::core_event_type, {{"apiVersion", "v1"},
                                   {"kind", "Event"},
                                   {"type", "Warning"},
                                   {"metadata", {{"name", "e2"}, {"namespace", "shop"}}},
                                   {"involvedObject", {{"uid", set["metadata"]["uid"]}}},
                                   {"message", "create Pod prod-a-0 failed: exceeded quota"}});
  ASSERT_TRUE(w.reconcile(pool, "prod-a"));
  EXPECT_EQ(w.reason(pool, "prod-a", "Stalled"), "PodRefused");
  EXPECT_THAT(w.message(pool, "prod-a", "Stalled"), HasSubstr("exceeded quota"));
}

}  // namespace
}  // namespace braidmq::reconcile::testing

// Each builder against a file of tests/data/operator. BRAID_UPDATE_GOLDEN=1 writes them anew; read the difference
// before it is committed: a changed pod revision asks every user for a restart.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "resources/broker_config.hpp"
#include "resources/budget.hpp"
#include "resources/compare.hpp"
#include "resources/network_policy.hpp"
#include "resources/pod_monitor.hpp"
#include "resources/secret.hpp"
#include "resources/services.hpp"
#include "resources/stateful_set.hpp"

namespace braidmq::resources {
namespace {

std::string golden_path(const std::string& name) {
  const char* folder = std::getenv("BRAID_TEST_DATA");
  return std::string(folder == nullptr ? "tests/data" : folder) + "/operator/" + name + ".json";
}

void expect_golden(const std::string& name, const json& object) {
  const auto text = object.dump(2) + "\n";
  if (std::getenv("BRAID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden_path(name)) << text;
    return;
  }
  std::ifstream file(golden_path(name));
  ASSERT_TRUE(file) << golden_path(name);
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(text, kept.str()) << name << ": run with BRAID_UPDATE_GOLDEN=1 when this is meant";
}

const identity born{.cluster_id = "2gSHLnVDT0eKZ8tlxWbkOA", .existing = true};

api::braid_cluster plain_cluster() {
  return api::read_cluster(json::parse(
      R"({"metadata": {"name": "prod", "namespace": "shop", "uid": "11111111-1111-4111-8111-111111111111"}, "spec": {}})"));
}

api::braid_cluster full_cluster() {
  return api::read_cluster(json::parse(R"({
    "metadata": {"name": "prod", "namespace": "shop", "uid": "11111111-1111-4111-8111-111111111111"},
    "spec": {"image": "registry.example/braidmq:0.5.0", "imagePullPolicy": "Always",
             "imagePullSecrets": [{"name": "pull"}], "config": {"num.partitions": "6"},
             "listeners": [{"name": "internal", "port": 9092},
                           {"name": "outside", "port": 9093, "type": "nodeport", "bootstrapNodePort": 30092,
                            "nodePorts": [{"broker": 2000, "nodePort": 30093}]},
                           {"name": "laptop", "port": 9096, "type": "nodeport", "advertisedHost": "localhost"}],
             "metrics": {"podMonitor": {"labels": {"team": "shop"}, "intervalSeconds": 30}},
             "shutdown": {"gracePeriodSeconds": 60, "drainTimeoutSeconds": 45}}})"));
}

api::braid_pool plain_pool() {
  return api::read_pool(json::parse(R"({
    "metadata": {"name": "prod-a", "namespace": "shop", "uid": "22222222-2222-4222-8222-222222222222"},
    "spec": {"clusterRef": {"name": "prod"}, "storage": {"size": "10Gi"}}})"));
}

api::braid_pool full_pool() {
  return api::read_pool(json::parse(R"({
    "metadata": {"name": "prod-a", "namespace": "shop", "uid": "22222222-2222-4222-8222-222222222222"},
    "spec": {"clusterRef": {"name": "prod"}, "index": 2, "zone": "eu-1a",
             "storage": {"size": "100Gi", "storageClassName": "fast"}, "walStorage": {"size": "10Gi"},
             "resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
             "template": {"labels": {"team": "shop", "braidmq.io/cluster": "stolen"}, "annotations": {"note": "x"},
                          "nodeSelector": {"disk": "nvme"}, "tolerations": [{"key": "brokers", "operator": "Exists"}],
                          "antiAffinity": "Preferred", "priorityClassName": "high"}}})"));
}

pod_inputs inputs_for(const api::braid_cluster& cluster) {
  return {.image = cluster.image.empty() ? "braidmq:test" : cluster.image,
          .config_hash = config_hash(cluster, born),
          .cluster_id = born.cluster_id};
}

TEST(builders, stateful_set) {
  expect_golden("stateful-set-plain", stateful_set(plain_cluster(), plain_pool(), inputs_for(plain_cluster())));
  expect_golden("stateful-set-full", stateful_set(full_cluster(), full_pool(), inputs_for(full_cluster())));
}

// Three brokers in two zones, as those of the second pool see it.
const voter_list three = {{0, "prod-z-0"}, {2000, "prod-a-0"}, {2001, "prod-a-1"}};

TEST(builders, several_voters) {
  auto inputs = inputs_for(full_cluster());
  inputs.voters = three;
  auto pool = full_pool();
  pool.replicas = 2;
  expect_golden("stateful-set-voters", stateful_set(full_cluster(), pool, inputs));
  expect_golden("service-brokers-voters", peer_service(full_cluster(), true));
  expect_golden("network-policy-voters", network_policy(full_cluster(), {}, true));
  auto who = born;
  who.voters = three;
  expect_golden("identity-voters", identity_map(full_cluster(), who));
  EXPECT_EQ(read_identity(identity_map(full_cluster(), who)), who);
}

TEST(builders, each_broker_has_the_node_port_of_its_id) {
  auto pool = full_pool();
  pool.replicas = 2;
  const auto port = [&](int ordinal) {
    return node_port_service(full_cluster(), pool, ordinal, full_cluster().listeners[1])["spec"];
  };
  EXPECT_EQ(port(0)["ports"][0]["nodePort"], 30093);
  EXPECT_FALSE(port(1)["ports"][0].contains("nodePort")) << "none was asked for: the API server chooses";
  EXPECT_EQ(port(1)["selector"]["statefulset.kubernetes.io/pod-name"], "prod-a-1");
}

// Whoever is not of the cluster must not reach the ports between brokers, and a broker alone has none.
TEST(builders, ports_between_brokers_are_for_brokers_alone) {
  int seen = 0;
  const auto several = network_policy(full_cluster(), {}, true);
  for (const auto& rule : several["spec"]["ingress"]) {
    for (const auto& one : rule["ports"]) {
      if (one["port"] != braid_port && one["port"] != controller_port) continue;
      ++seen;
      EXPECT_EQ(rule["from"], json::array({{{"podSelector", {{"matchLabels", cluster_selector(full_cluster())}}}}}));
    }
  }
  EXPECT_EQ(seen, 2);
  const auto alone = network_policy(full_cluster());
  for (const auto& rule : alone["spec"]["ingress"]) {
    for (const auto& one : rule["ports"]) EXPECT_TRUE(one["port"] != braid_port && one["port"] != controller_port);
  }
}

TEST(builders, stateful_set_on_one_node) {
  auto pool = plain_pool();
  pool.pod.nodes = pool.pod.zones = api::spread::none;
  const auto set = stateful_set(plain_cluster(), pool, inputs_for(plain_cluster()));
  EXPECT_FALSE(set["spec"]["template"]["spec"].contains("affinity"));
  EXPECT_FALSE(set["spec"]["template"]["spec"].contains("topologySpreadConstraints"));
}

TEST(builders, labels_that_selectors_hang_on_cannot_be_taken) {
  const auto set = stateful_set(full_cluster(), full_pool(), inputs_for(full_cluster()));
  const auto& labels = set["spec"]["template"]["metadata"]["labels"];
  EXPECT_EQ(labels["braidmq.io/cluster"], "prod");
  EXPECT_EQ(labels["team"], "shop");
  EXPECT_TRUE(covers(labels, set["spec"]["selector"]["matchLabels"]));
}

TEST(builders, the_pod_revision_is_a_function_of_the_pod_template) {
  const auto revision = [](const api::braid_cluster& cluster, const api::braid_pool& pool) {
    return stateful_set(cluster, pool,
                        inputs_for(cluster))["spec"]["template"]["metadata"]["annotations"][revision_annotation]
        .get<std::string>();
  };
  auto pool = plain_pool();
  const auto first = revision(plain_cluster(), pool);
  pool.replicas = 3;
  pool.storage.size = "20Gi";
  EXPECT_EQ(revision(plain_cluster(), pool), first);
  pool.resources = {{"limits", {{"memory", "2Gi"}}}};
  EXPECT_NE(revision(plain_cluster(), pool), first);
}

TEST(builders, services) {
  const auto cluster = full_cluster();
  expect_golden("service-brokers", peer_service(cluster));
  expect_golden("service-bootstrap", bootstrap_service(cluster).value());
  expect_golden("service-node-bootstrap", node_bootstrap_service(cluster, cluster.listeners[1]));
  expect_golden("service-node-port", node_port_service(cluster, full_pool(), 0, cluster.listeners[1]));
  expect_golden("service-node-port-host", node_port_service(cluster, full_pool(), 0, cluster.listeners[2]));
}

TEST(builders, config_map) {
  expect_golden("config-map", config_map(full_cluster(), born));
  expect_golden("identity", identity_map(full_cluster(), {.cluster_id = born.cluster_id, .existing = false}));
}

TEST(builders, budget) {
  EXPECT_FALSE(budget(full_cluster(), 1).has_value());
  expect_golden("budget", budget(full_cluster(), 3).value());
  auto cluster = full_cluster();
  cluster.budget = false;
  EXPECT_FALSE(budget(cluster, 3).has_value());
}

TEST(builders, network_policy_and_pod_monitor) {
  expect_golden("network-policy", network_policy(full_cluster()));
  expect_golden("pod-monitor", pod_monitor(full_cluster()));
  expect_golden("pod-monitor-plain", pod_monitor(plain_cluster()));
}

}  // namespace
}  // namespace braidmq::resources

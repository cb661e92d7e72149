#include <nlohmann/json.hpp>

#include "api/braid_cluster.hpp"
#include "api/braid_pool.hpp"
#include "api/owned.hpp"
#include "api/topic.hpp"

namespace braidmq::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

json topic_document() {
  return json::parse(R"({
    "apiVersion": "braidmq.io/v1alpha1", "kind": "Topic",
    "metadata": {"name": "orders", "namespace": "shop", "uid": "u1", "resourceVersion": "7", "generation": 3,
                 "creationTimestamp": "2026-11-29T20:55:05Z", "finalizers": ["braidmq.io/topic"],
                 "annotations": {"braidmq.io/abandon": "true", "other": "x"}, "managedFields": [{"manager": "kubectl"}]},
    "spec": {"clusterRef": {"name": "prod"}, "topicName": "Orders", "partitions": 12, "replicationFactor": 1,
             "minInSyncReplicas": 1, "config": {"retention.ms": "1000", "cleanup.policy": "compact"},
             "management": "Observe", "deletionPolicy": "Delete"},
    "status": {"topicId": "abc", "metadataIndex": 5, "partitions": 12,
               "conditions": [{"type": "Ready", "status": "True", "reason": "TopicReady", "message": "m",
                               "lastTransitionTime": "2026-11-29T20:55:06Z", "observedGeneration": 3}]}})");
}

TEST(topic_row, holds_what_is_read_of_a_topic) {
  const auto row = read_topic(topic_document());
  EXPECT_EQ(row.key.to_string(), "shop/orders");
  EXPECT_EQ(row.uid, "u1");
  EXPECT_EQ(row.generation, 3);
  EXPECT_EQ(row.cluster_key().to_string(), "shop/prod");
  EXPECT_EQ(row.topic_name, "Orders");
  EXPECT_EQ(row.partitions, 12);
  EXPECT_EQ(row.replication_factor, 1);
  EXPECT_THAT(row.configs, ElementsAre(Pair("cleanup.policy", "compact"), Pair("min.insync.replicas", "1"),
                                       Pair("retention.ms", "1000")));
  EXPECT_EQ(row.management, management::observe);
  EXPECT_EQ(row.deletion_policy, deletion_policy::remove);
  EXPECT_TRUE(row.has_finalizer(topic_finalizer));
  EXPECT_TRUE(row.is_set(abandon_annotation));
  EXPECT_THAT(row.annotations, ElementsAre(Pair("braidmq.io/abandon", "true")));
  EXPECT_EQ(row.topic_id, "abc");
  EXPECT_EQ(row.metadata_index, 5);
  EXPECT_TRUE(is_true(row.conditions, "Ready"));
  EXPECT_THAT(row.problems, IsEmpty());
}

TEST(topic_row, a_topic_without_topic_name_has_its_own) {
  auto document = topic_document();
  document["spec"].erase("topicName");
  EXPECT_EQ(read_topic(document).topic_name, "orders");
}

TEST(topic_row, a_change_of_the_status_changes_its_hash) {
  auto document = topic_document();
  const auto before = read_topic(document).status_hash;
  document["spec"]["partitions"] = 13;
  EXPECT_EQ(read_topic(document).status_hash, before);
  document["status"]["partitions"] = 13;
  EXPECT_NE(read_topic(document).status_hash, before);
}

// Every value of a document replaced by each wrong one: read to the end, and what is wrong in the spec is noted.
void spoil(json& at, const std::function<void()>& check) {
  static const json wrong[] = {
      nullptr, true, -1, 1.5, "text", json::array({1, "x"}), json::object({{"a", 1}}), 18446744073709551615ULL};
  for (auto& child : at) {
    if (child.is_structured()) spoil(child, check);
    const json kept = child;
    for (const auto& value : wrong) {
      child = value;
      check();
    }
    child = kept;
  }
}

TEST(rows, of_spoilt_documents_are_read_to_the_end) {
  auto topic = topic_document();
  int read = 0;
  spoil(topic, [&] {
    EXPECT_LE(read_topic(topic).problems.size(), reader::max_problems);
    ++read;
  });
  auto cluster = json::parse(R"({"metadata": {"name": "c", "namespace": "n"},
    "spec": {"image": "i", "imagePullSecrets": [{"name": "s"}], "braidReplicas": 1, "config": {"a": "b"}, "paused": false,
             "listeners": [{"name": "outside", "port": 9093, "type": "nodeport", "bootstrapNodePort": 30000,
                            "nodePorts": [{"broker": 0, "nodePort": 30001}], "advertisedHost": "h"}],
             "metrics": {"podMonitor": {"enabled": true, "labels": {"a": "b"}, "intervalSeconds": 30}},
             "networkPolicy": {"enabled": false}, "disruption": {"mode": "Disabled"}, "deletionPolicy": "Delete",
             "shutdown": {"gracePeriodSeconds": 60, "drainTimeoutSeconds": 50}},
    "status": {"clusterId": "id"}})");
  spoil(cluster, [&] {
    EXPECT_FALSE(read_cluster(cluster).listeners.empty() && cluster["spec"].is_object() &&
                 !cluster["spec"]["listeners"].is_array());
    ++read;
  });
  auto pool = json::parse(R"({"metadata": {"name": "p", "ownerReferences": [{"uid": "u", "controller": true}]},
    "spec": {"clusterRef": {"name": "c"}, "replicas": 1, "index": 2, "zone": "z", "walStorage": {"size": "1Gi"},
             "storage": {"size": "10Gi", "storageClassName": "fast", "reclaim": "Delete"},
             "template": {"labels": {"a": "b"}, "tolerations": [{"key": "k"}], "antiAffinity": "None"}}})");
  spoil(pool, [&] {
    static_cast<void>(read_pool(pool));
    static_cast<void>(read_owned(pool));
    ++read;
  });
  auto pod = json::parse(R"({"metadata": {"name": "p-0", "labels": {"a": "b"}},
    "spec": {"nodeName": "n", "containers": [{"image": "i"}], "volumes": [{"persistentVolumeClaim": {"claimName": "d"}}]},
    "status": {"phase": "Running", "podIP": "1.2.3.4", "conditions": [{"type": "PodScheduled", "status": "False"}],
               "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3,
                                      "lastState": {"terminated": {"exitCode": 1, "message": "m"}}}]}})");
  spoil(pod, [&] {
    static_cast<void>(read_pod(pod));
    static_cast<void>(read_stateful_set(pod));
    ++read;
  });
  EXPECT_GT(read, 500);
}

TEST(rows, note_what_they_could_not_read) {
  auto document = topic_document();
  document["spec"]["partitions"] = "twelve";
  document["spec"]["config"]["retention.ms"] = 1000;
  const auto row = read_topic(document);
  EXPECT_THAT(row.problems, ElementsAre(HasSubstr("spec.partitions: must be a whole number"),
                                        HasSubstr("spec.config.retention.ms: must be a text")));
  EXPECT_FALSE(row.partitions.has_value());
}

TEST(cluster_row, has_the_schemas_defaults) {
  const auto row = read_cluster(json::parse(R"({"metadata": {"name": "c", "namespace": "n"}, "spec": {}})"));
  ASSERT_EQ(row.listeners.size(), 1U);
  EXPECT_EQ(row.listeners[0].name, "internal");
  EXPECT_EQ(row.listeners[0].port, 9092);
  EXPECT_TRUE(row.network_policy);
  EXPECT_TRUE(row.pod_monitor);
  EXPECT_EQ(row.grace_s, 150);
  EXPECT_FALSE(row.paused);
}

TEST(cluster_row, is_paused_by_its_annotation_too) {
  const auto row = read_cluster(
      json::parse(R"({"metadata": {"name": "c", "annotations": {"braidmq.io/paused": "true"}}, "spec": {}})"));
  EXPECT_TRUE(row.paused);
}

TEST(pod_row, tells_why_it_does_not_run) {
  const auto row = read_pod(json::parse(R"({"metadata": {"name": "p-0"}, "spec": {"containers": [{"image": "i"}]},
    "status": {"conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}],
      "containerStatuses": [{"restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                             "lastState": {"terminated": {"exitCode": 3, "reason": "Error", "message": "no space"}}}]}})"));
  EXPECT_TRUE(row.scheduled);
  EXPECT_FALSE(row.ready);
  EXPECT_EQ(row.broker.waiting_reason, "CrashLoopBackOff");
  EXPECT_EQ(row.broker.last_message, "no space");
  EXPECT_EQ(row.broker.last_exit_code, 3);
  EXPECT_EQ(row.broker.restarts, 4);
}

// A thousand Topics in a few MB: what a row holds beside itself, counted by its strings.
TEST(topic_row, is_small) {
  EXPECT_LE(sizeof(topic), 700U);
}

}  // namespace
}  // namespace braidmq::api

// Initial objects and the level of the CRDs, on an API server in memory.
#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "api/topic.hpp"
#include "operator_app/crd_check.hpp"
#include "operator_app/initial_objects.hpp"
#include "support/k8s/fake_client.hpp"

namespace braidmq::operator_app {
namespace {

using k8s::json;
using ::testing::HasSubstr;

constexpr const char* orders = R"({"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic",
  "metadata": {"name": "orders", "namespace": "elsewhere"}, "spec": {"clusterRef": {"name": "prod"}, "partitions": 3}})";

void put_map(k8s::testing::fake_client& api, const json& data) {
  api.put(api::config_map_type, {{"apiVersion", "v1"},
                                 {"kind", "ConfigMap"},
                                 {"metadata", {{"name", "first"}, {"namespace", "shop"}}},
                                 {"data", data}});
}

TEST(initial_objects, are_applied_once_and_again_when_their_text_changes) {
  k8s::testing::fake_client api;
  const k8s::object_key map{"shop", "first"};
  put_map(api, {{"100-topic.json", orders}});
  EXPECT_EQ(apply_initial_objects(api, map), 1);
  auto topic = api.read(api::topic_type, {"shop", "orders"}).value();  // in the namespace of the ConfigMap, always
  EXPECT_EQ(topic["spec"]["partitions"], 3);

  topic["spec"]["partitions"] = 9;  // somebody's edit stays
  api.put(api::topic_type, topic);
  EXPECT_EQ(apply_initial_objects(api, map), 0);
  EXPECT_EQ(api.read(api::topic_type, {"shop", "orders"}).value()["spec"]["partitions"], 9);

  auto changed = json::parse(orders);
  changed["spec"]["partitions"] = 12;
  put_map(api, {{"100-topic.json", changed.dump()}});
  EXPECT_EQ(apply_initial_objects(api, map), 1);
  EXPECT_EQ(api.read(api::topic_type, {"shop", "orders"}).value()["spec"]["partitions"], 12);
  // The one that was there is meant: deleted meanwhile, it is not made anew.
  EXPECT_EQ(api.writes().back().body["metadata"]["uid"], topic["metadata"]["uid"]);
  EXPECT_EQ(apply_initial_objects(api, map), 0);

  put_map(api, json::object());  // what is taken out is not deleted
  EXPECT_EQ(apply_initial_objects(api, map), 0);
  EXPECT_TRUE(api.read(api::topic_type, {"shop", "orders"}));
}

TEST(initial_objects, of_any_other_kind_are_refused) {
  k8s::testing::fake_client api;
  for (const char* text : {"{", "7", "{}", R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}})",
                           R"({"apiVersion": "braidmq.io/v1alpha1", "kind": "Topic"})"}) {
    put_map(api, {{"a.json", text}});
    const auto applied = apply_initial_objects(api, {"shop", "first"});
    ASSERT_FALSE(applied) << text;
    EXPECT_THAT(applied.error().message, HasSubstr("a.json is no BraidCluster"));
  }
}

TEST(initial_objects, without_their_config_map_are_an_error) {
  k8s::testing::fake_client api;
  EXPECT_EQ(apply_initial_objects(api, {"shop", "first"}).error().code, k8s::errc::not_found);
}

TEST(crd_check, compares_levels) {
  k8s::testing::fake_client api;
  EXPECT_FALSE(crds_are_outdated(api).has_value());
  for (const char* name : {"braidclusters.braidmq.io", "braidpools.braidmq.io", "topics.braidmq.io"}) {
    api.put(
        api::crd_type,
        {{"apiVersion", "apiextensions.k8s.io/v1"},
         {"kind", "CustomResourceDefinition"},
         {"metadata", {{"name", name}, {"annotations", {{"braidmq.io/schema-level", std::to_string(schema_level)}}}}}});
  }
  EXPECT_EQ(crds_are_outdated(api), false);
  auto old = api.read(api::crd_type, {"", "topics.braidmq.io"}).value();
  for (const json& level : {json("0"), json("x"), json(7)}) {
    old["metadata"]["annotations"]["braidmq.io/schema-level"] = level;
    api.put(api::crd_type, old);
    EXPECT_EQ(crds_are_outdated(api), true) << level;
  }
}

}  // namespace
}  // namespace braidmq::operator_app

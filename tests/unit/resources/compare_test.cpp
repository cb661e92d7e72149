#include "resources/compare.hpp"

#include <nlohmann/json.hpp>

namespace braidmq::resources {
namespace {

TEST(quantities, are_numbers_and_not_texts) {
  EXPECT_TRUE(equal_quantities("1Gi", "1024Mi"));
  EXPECT_TRUE(equal_quantities("0.5", "500m"));
  EXPECT_TRUE(equal_quantities("1e3", "1k"));
  EXPECT_TRUE(equal_quantities("1.5Gi", "1536Mi"));
  EXPECT_TRUE(equal_quantities("1000", "1k"));
  EXPECT_FALSE(equal_quantities("1G", "1Gi"));
  EXPECT_EQ(compare_quantities("10Gi", "9Gi"), 1);
  EXPECT_EQ(compare_quantities("100m", "1"), -1);
  EXPECT_EQ(compare_quantities("-1", "1"), -1);
  for (const char* bad : {"", "Gi", "1 Gi", "1Gi1", "1.2.3", ".", "1e", "1e999", "99999999999999999999999999Ei", "x"})
    EXPECT_FALSE(compare_quantities(bad, "1").has_value()) << bad;
}

TEST(covers, what_the_server_added_is_no_difference) {
  const auto wanted = json::parse(R"({"spec": {"ports": [{"name": "a", "port": 1}], "selector": {}, "list": []}})");
  EXPECT_TRUE(covers(json::parse(R"({"spec": {"ports": [{"name": "a", "port": 1, "nodePort": 30000}], "type": "x"}})"),
                     wanted));
  EXPECT_FALSE(covers(json::parse(R"({"spec": {"ports": [{"name": "a", "port": 2}]}})"), wanted));
  EXPECT_FALSE(covers(json::parse(R"({"spec": {"ports": []}})"), wanted));
  EXPECT_FALSE(covers(json::parse(R"({"spec": {"ports": 7}})"), wanted));
  EXPECT_FALSE(covers(json::parse("{}"), wanted));
  EXPECT_FALSE(covers(json::parse("null"), wanted));
}

TEST(covers, lists_that_the_server_merges_have_no_order_and_room_for_others) {
  const auto env = json::parse(R"([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])");
  EXPECT_TRUE(covers(json::parse(R"([{"name": "X"}, {"name": "B", "value": "2"}, {"name": "A", "value": "1"}])"), env));
  EXPECT_FALSE(covers(json::parse(R"([{"name": "A", "value": "1"}, {"name": "C", "value": "2"}])"), env));
  EXPECT_FALSE(covers(json::parse(R"(["A", "B"])"), env));
  const auto mounts = json::parse(R"([{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}])");
  EXPECT_TRUE(covers(json::parse(R"([{"name": "v", "mountPath": "/b"}, {"name": "v", "mountPath": "/a"}])"), mounts));
  EXPECT_FALSE(covers(json::parse(R"([{"name": "v", "mountPath": "/a"}])"), mounts));
  EXPECT_FALSE(covers(json::parse(R"(["a", "b"])"), json::parse(R"(["b", "a"])")));
  EXPECT_FALSE(covers(json::parse(R"(["a", "b"])"), json::parse(R"(["a"])")));
}

TEST(covers, quantities_in_the_servers_form) {
  EXPECT_TRUE(
      covers(json::parse(R"({"cpu": "1", "memory": "1Gi"})"), json::parse(R"({"cpu": 1, "memory": "1024Mi"})")));
  EXPECT_FALSE(covers(json::parse(R"({"cpu": "2"})"), json::parse(R"({"cpu": 1})")));
}

TEST(seal, sees_a_member_that_is_no_longer_rendered) {
  auto before = json::parse(R"({"metadata": {"name": "a"}, "spec": {"x": 1, "y": 2}})");
  seal(before);
  auto after = json::parse(R"({"metadata": {"name": "a"}, "spec": {"x": 1}})");
  seal(after);
  EXPECT_FALSE(covers(before, after));
  auto again = after;
  seal(again);
  EXPECT_EQ(again, after);
}

}  // namespace
}  // namespace braidmq::resources

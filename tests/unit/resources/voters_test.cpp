#include "resources/voters.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "resources/identity.hpp"

namespace braidmq::resources {
namespace {

api::braid_pool pool_of(const std::string& name, int index, int replicas, const std::string& zone = "") {
  api::braid_pool pool;
  pool.key = {"shop", name};
  pool.index = index;
  pool.replicas = replicas;
  pool.zone = zone;
  return pool;
}

std::string chosen(const std::vector<api::braid_pool>& pools, int count) {
  std::vector<const api::braid_pool*> all;
  for (const auto& pool : pools) all.push_back(&pool);
  return voters_text(choose_voters(all, count));
}

TEST(choose_voters, of_one_pool_are_its_first_pods) {
  EXPECT_EQ(chosen({pool_of("a", 0, 5)}, 3), "0=a-0,1=a-1,2=a-2");
  EXPECT_EQ(chosen({pool_of("a", 2, 2)}, 3), "2000=a-0,2001=a-1") << "not more than there are";
  EXPECT_EQ(chosen({pool_of("a", 0, 0)}, 3), "");
  EXPECT_EQ(chosen({}, 3), "");
}

TEST(choose_voters, are_spread_over_pools_before_one_gets_a_second) {
  EXPECT_EQ(chosen({pool_of("a", 0, 3), pool_of("b", 1, 3), pool_of("c", 2, 3)}, 3), "0=a-0,1000=b-0,2000=c-0");
  EXPECT_EQ(chosen({pool_of("a", 0, 3), pool_of("b", 1, 1)}, 3), "0=a-0,1=a-1,1000=b-0");
  EXPECT_EQ(chosen({pool_of("a", 0, 3), pool_of("b", 1, 3)}, 5), "0=a-0,1=a-1,2=a-2,1000=b-0,1001=b-1");
}

// Two pools of one zone fail together, and count as one.
TEST(choose_voters, are_spread_over_zones_before_pools) {
  EXPECT_EQ(chosen({pool_of("a", 0, 3, "z1"), pool_of("b", 1, 3, "z1"), pool_of("c", 2, 3, "z2")}, 3),
            "0=a-0,1000=b-0,2000=c-0");
  EXPECT_EQ(
      chosen({pool_of("a", 0, 9, "z1"), pool_of("b", 1, 9, "z1"), pool_of("c", 2, 1, "z2"), pool_of("d", 3, 1, "z3")},
             3),
      "0=a-0,2000=c-0,3000=d-0");
}

TEST(choose_voters, do_not_depend_on_the_order_in_which_pools_are_listed) {
  std::vector<api::braid_pool> pools = {pool_of("a", 0, 2, "z1"), pool_of("b", 1, 3, "z2"), pool_of("c", 2, 1, "z1"),
                                        pool_of("d", 3, 2)};
  const auto by_index = [](const auto& x, const auto& y) { return x.index < y.index; };
  for (const int count : {1, 3, 5, 7}) {
    std::ranges::sort(pools, by_index);
    const auto first = chosen(pools, count);
    while (std::ranges::next_permutation(pools, by_index).found) EXPECT_EQ(chosen(pools, count), first) << count;
  }
}

// A pool's StatefulSet starts its first pods: whoever votes has to be among them.
TEST(choose_voters, of_a_pool_have_no_gap) {
  for (int count = 1; count <= 15; count += 2) {
    const std::vector<api::braid_pool> pools = {pool_of("a", 0, 4, "z1"), pool_of("b", 1, 7), pool_of("c", 2, 5, "z1")};
    std::vector<const api::braid_pool*> all;
    for (const auto& pool : pools) all.push_back(&pool);
    const auto voters = choose_voters(all, count);
    int sum = 0;
    for (const auto& pool : pools) sum += voters_of_pool(voters, pool);
    EXPECT_EQ(sum, count);
    EXPECT_EQ(std::ssize(voters), count);
  }
}

TEST(default_voters, three_where_there_are_three) {
  EXPECT_EQ(default_voters(1), 1);
  EXPECT_EQ(default_voters(2), 1);
  EXPECT_EQ(default_voters(3), 3);
  EXPECT_EQ(default_voters(100), 3);
}

TEST(parse_voters, reads_what_voters_text_writes_and_nothing_else) {
  const voter_list three = {{0, "a-0"}, {1000, "b-0"}, {2001, "c-1"}};
  EXPECT_EQ(parse_voters(voters_text(three)), three);
  EXPECT_EQ(parse_voters("2001=c-1,0=a-0,1000=b-0"), three);
  for (const char* bad : {"", "0", "=a-0", "0=", "x=a-0", "0x=a-0", "-1=a-0", "0=a-0,", "0=a-0,,1=a-1", "0=a-0,0=a-1",
                          " 0=a-0", "99999999999=a-0", ","})
    EXPECT_FALSE(parse_voters(bad)) << bad;
}

// The broker itself reads what is passed to it.
TEST(quorum_text, is_what_the_broker_takes) {
  api::braid_cluster cluster;
  cluster.key = {"shop", "prod"};
  const auto text = quorum_text({{0, "prod-a-0"}, {1000, "prod-b-0"}, {1001, "prod-b-1"}}, cluster, "cluster.local");
  EXPECT_EQ(
      text,
      "0@prod-a-0.prod-brokers.shop.svc.cluster.local:9095,1000@prod-b-0.prod-brokers.shop.svc.cluster.local:9095,"
      "1001@prod-b-1.prod-brokers.shop.svc.cluster.local:9095");
  const auto read =
      config::parse_config("data.dir: /d\nbraid.secret.file: /s\n", "broker.yaml",
                           {"controller.quorum.voters=" + text, "controller.listener=:9095", "braid.listener=:9094",
                            "broker.id=1", "braid.broker.id.offset=1000", "advertised.listeners=PLAINTEXT://b:9092"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(config::parse_config("data.dir: /d\nbraid.secret.file: /s\n", "broker.yaml",
                                    {"controller.quorum.voters=" + text, "controller.listener=:9095",
                                     "braid.listener=:9094", "broker.id=5", "advertised.listeners=PLAINTEXT://b:9092"}))
      << "a broker that does not vote must not take itself for one that does";
}

}  // namespace
}  // namespace braidmq::resources

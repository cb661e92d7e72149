#include "config/config.hpp"

#include <nlohmann/json.hpp>

#include "resources/broker_config.hpp"
#include "resources/secret.hpp"
#include "sim/world/random_bytes.hpp"

namespace braidmq::resources {
namespace {

using testing::HasSubstr;

api::braid_cluster cluster_with(const std::string& spec) {
  return api::read_cluster(
      {{"metadata", {{"name", "prod"}, {"namespace", "shop"}, {"uid", "u"}}}, {"spec", json::parse(spec)}});
}

const identity founded{.cluster_id = "AAAAAAAAAAAAAAAAAAAAAA", .existing = true};

TEST(broker_yaml, is_what_the_broker_reads) {
  const auto cluster = cluster_with(R"({"config": {"num.partitions": "3", "log.level": "debug"},
    "listeners": [{"name": "internal", "port": 9092}, {"name": "outside", "port": 9093, "type": "nodeport"}]})");
  const auto read = config::parse_config(broker_yaml(cluster, founded), "broker.yaml",
                                         {"advertised.listeners=INTERNAL://p-0.prod-brokers:9092", "broker.id=0"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->num_partitions, 3);
  EXPECT_EQ(read->cluster_id, founded.cluster_id);
  EXPECT_EQ(read->bootstrap, "existing");
  EXPECT_EQ(read->listeners.size(), 2U);
  EXPECT_EQ(read->pushed_listeners, std::vector<std::string>{"OUTSIDE"});
  EXPECT_EQ(read->log_format, "json");
}

TEST(config_problem, is_in_the_brokers_words_without_lines_of_a_file_that_nobody_sees) {
  EXPECT_FALSE(config_problem(cluster_with(R"({"config": {"num.partitions": "3"}})")));
  const auto unknown = config_problem(cluster_with(R"({"config": {"num.partition": "3"}})"));
  ASSERT_TRUE(unknown);
  EXPECT_THAT(*unknown, HasSubstr("spec.config: there is no key \"num.partition\"; did you mean \"num.partitions\"?"));
  const auto range = config_problem(cluster_with(R"({"config": {"num.partitions": "0"}})"));
  ASSERT_TRUE(range);
  EXPECT_THAT(*range, HasSubstr("num.partitions"));
  const auto ours = config_problem(cluster_with(R"({"config": {"data.dir": "/x"}})"));
  ASSERT_TRUE(ours);
  EXPECT_THAT(*ours, HasSubstr("data.dir is set by the operator"));
  EXPECT_TRUE(config_problem(cluster_with("{\"config\": {\"num.partitions\": \"1\\nbroker.id: 7\"}}")));
}

TEST(config_hash, moves_with_what_a_broker_reads_and_not_with_the_birth) {
  const auto cluster = cluster_with("{}");
  const auto hash = config_hash(cluster, founded);
  EXPECT_EQ(config_hash(cluster, {.cluster_id = founded.cluster_id, .existing = false}), hash);
  EXPECT_NE(config_hash(cluster_with(R"({"config": {"num.partitions": "3"}})"), founded), hash);
}

TEST(secret, is_64_hex_characters_and_comes_back) {
  sim::random_bytes random(7);
  auto object = secret(cluster_with("{}"), random);
  const auto text = read_secret(object);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 64U);
  EXPECT_EQ(text->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_TRUE(object["data"]["secret"].get<std::string>().ends_with("o="));  // one octet and the end of the line
  EXPECT_NE(read_secret(secret(cluster_with("{}"), random)), text);
}

TEST(secret, the_first_usable_line_of_a_secret_counts) {
  // base64 of "short\n" + 32 times 'a' + "\r\n" + 32 times 'b'
  const json object = {{"data",
                        {{"secret",
                          "c2hvcnQKYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWENCmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJi"
                          "YmJiYmJiYmI="}}}};
  EXPECT_EQ(read_secret(object), std::string(32, 'a'));
  EXPECT_FALSE(read_secret({{"data", {{"secret", "c2hvcnQ="}}}}));
  EXPECT_FALSE(read_secret({{"data", {{"secret", "%%%"}}}}));
  EXPECT_FALSE(read_secret({{"data", {{"secret", 7}}}}));
  EXPECT_FALSE(read_secret(json::object()));
}

TEST(identity, in_doubt_a_cluster_is_never_founded_again) {
  const auto cluster = cluster_with("{}");
  EXPECT_EQ(read_identity(identity_map(cluster, founded)), founded);
  const identity unborn{.cluster_id = "x", .existing = false};
  EXPECT_EQ(read_identity(identity_map(cluster, unborn)), unborn);
  EXPECT_TRUE(read_identity({{"data", {{"cluster.id", "x"}}}})->existing);
  EXPECT_TRUE(read_identity({{"data", {{"cluster.id", "x"}, {"braid.bootstrap", 7}}}})->existing);
  EXPECT_FALSE(read_identity({{"data", {{"braid.bootstrap", "initial"}}}}));
  EXPECT_FALSE(read_identity(json::object()));
}

}  // namespace
}  // namespace braidmq::resources

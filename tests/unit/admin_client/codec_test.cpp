#include "admin_client/codec.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "admin_client/strict_json.hpp"

namespace braidmq::admin_client {
namespace {

using nlohmann::json;

cluster_info some_cluster() {
  cluster_info value{.cluster_id = "kYz8P1s0QpWz2uJ7c9dLBw", .version = "0.1.0", .broker_id = 3, .controller_id = 0};
  value.metadata_index = 18446744073709551615ULL;
  value.replication_factor = 1;
  value.brokers = {{.id = 3,
                    .incarnation = "abc",
                    .alive = true,
                    .draining = true,
                    .listeners = {{"PLAINTEXT", "broker.example", 9092}, {"OUT", "::1", 65535}},
                    .rack = "east",
                    .roles = {"controller", "leader"}}};
  value.braids = {{.id = 0,
                   .leader = -1,
                   .term = 7,
                   .commit_index = 5,
                   .applied_index = 4,
                   .visible_index = 3,
                   .replicas = {3, 1000},
                   .peers = {{.id = 1000, .match_index = 2, .needs_snapshot = true}}}};
  return value;
}

topic_info some_topic() {
  return {.name = "orders",
          .id = "id",
          .partitions = 12,
          .replication_factor = 1,
          .configs = {{"max.message.bytes", "1000"}},
          .created_index = 4,
          .changed_index = 9};
}

json through_text(const json& value) {
  return parse_json(to_text(value)).value();
}

TEST(codec, answers_come_back) {
  EXPECT_EQ(cluster_from_json(through_text(to_json(some_cluster()))).value(), some_cluster());
  EXPECT_EQ(topic_from_json(through_text(to_json(some_topic()))).value(), some_topic());
  const drain_state drain{.draining = true, .last_broker = true, .leaderships = 0};
  EXPECT_EQ(drain_from_json(through_text(to_json(drain))).value(), drain);
  topic_page page{.metadata_index = 9, .topics = {some_topic()}, .next = "orders"};
  auto back = page_from_json(through_text(to_json(page))).value();
  EXPECT_EQ(back.topics, page.topics);
  EXPECT_EQ(back.next, "orders");
  page.next.reset();
  EXPECT_FALSE(page_from_json(through_text(to_json(page)))->next.has_value());
}

TEST(codec, an_older_broker_says_nothing_of_racks_roles_and_peers) {
  json old = to_json(some_cluster());
  for (auto& one : old["brokers"]) {
    one.erase("rack");
    one.erase("roles");
  }
  for (auto& one : old["braids"]) one.erase("peers");
  cluster_info expected = some_cluster();
  expected.brokers[0].rack.clear();
  expected.brokers[0].roles.clear();
  expected.braids[0].peers.clear();
  EXPECT_EQ(cluster_from_json(old).value(), expected);
}

TEST(codec, the_braids_alone) {
  const json value = braids_to_json(some_cluster());
  EXPECT_EQ(value["brokerId"], 3);
  ASSERT_EQ(value["braids"].size(), 1U);
  EXPECT_EQ(value["braids"][0]["peers"][0]["matchIndex"], 2);
  EXPECT_EQ(value["braids"][0]["peers"][0]["needsSnapshot"], true);
}

TEST(codec, answers_may_hold_more_but_not_less) {
  json value = to_json(some_topic());
  value["later"] = {{"x", 1}};
  EXPECT_TRUE(topic_from_json(value).has_value());
  const json whole = to_json(some_topic());
  for (const auto& [name, member] : whole.items()) {
    json less = whole;
    less.erase(name);
    const auto read = topic_from_json(less);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_EQ(read.error().message, "\"" + name + "\" is missing");
  }
  json page = to_json(topic_page{.metadata_index = 1, .topics = {some_topic(), some_topic()}, .next = {}});
  page["topics"][1]["partitions"] = "many";
  EXPECT_EQ(page_from_json(page).error().message,
            "\"topics[1].partitions\" must be a whole number from -2147483648 to 2147483647");
}

TEST(codec, requests_come_back) {
  const topic_creation creation{
      .name = "a", .partitions = 3, .replication_factor = 1, .configs = {{"k", "v"}}, .validate_only = true};
  const auto back = creation_request(to_json(creation)).value();
  EXPECT_EQ(back.name, "a");
  EXPECT_EQ(back.partitions, 3);
  EXPECT_EQ(back.replication_factor, 1);
  EXPECT_EQ(back.configs, creation.configs);
  EXPECT_TRUE(back.validate_only);
  const topic_change change{.name = "a", .id = "x", .partitions = 5, .configs = {{"k", "v"}, {"u", std::nullopt}}};
  const auto changed = change_request("a", to_json(change)).value();
  EXPECT_EQ(changed.id, "x");
  EXPECT_EQ(changed.partitions, 5);
  EXPECT_EQ(changed.configs, change.configs);
  const auto nothing = change_request("a", json::object()).value();
  EXPECT_FALSE(nothing.id || nothing.partitions || nothing.validate_only || !nothing.configs.empty());
}

TEST(codec, requests_are_read_strictly) {
  const struct {
    const char* text;
    const char* words;
  } cases[] = {
      {R"([])", "the body must be an object"},
      {R"({})", "\"name\" is missing"},
      {R"({"name":5})", "\"name\" must be a text"},
      {R"({"name":"a","partition":5})", "there is no member \"partition\""},
      {R"({"name":"a","partitions":1.0})", "\"partitions\" must be a whole number"},
      {R"({"name":"a","partitions":2147483648})", "\"partitions\" must be a whole number"},
      {R"({"name":"a","partitions":-2147483649})", "\"partitions\" must be a whole number"},
      {R"({"name":"a","partitions":null})", "\"partitions\" must be a whole number"},
      {R"({"name":"a","validateOnly":1})", "\"validateOnly\" must be true or false"},
      {R"({"name":"a","configs":[]})", "\"configs\" must be an object of texts"},
      {R"({"name":"a","configs":{"k":1}})", "\"configs\" must hold texts, and k is 1"},
      {R"({"name":"a","configs":{"k":null}})", "\"configs\" must hold texts, and k is null"},
  };
  for (const auto& one : cases) {
    const auto read = creation_request(parse_json(one.text).value());
    ASSERT_FALSE(read.has_value()) << one.text;
    EXPECT_EQ(read.error().code, errc::invalid_request);
    EXPECT_TRUE(read.error().message.starts_with(one.words)) << read.error().message;
  }
  EXPECT_FALSE(change_request("a", parse_json(R"({"name":"b"})").value()).has_value());
  EXPECT_FALSE(drain_request(parse_json(R"({"timeoutMs":-1})").value()).has_value());
  EXPECT_EQ(drain_request(json::object()).value(), std::chrono::milliseconds(0));
  EXPECT_FALSE(listener_request("A", parse_json(R"({"host":"h"})").value()).has_value());
  EXPECT_FALSE(listener_request("A", parse_json(R"({"host":"h","port":65536})").value()).has_value());
  EXPECT_FALSE(listener_request("A", parse_json(R"({"host":"h","port":-1})").value()).has_value());
}

TEST(errc, names_and_codes_are_one_to_one) {
  for (int value = 1; value <= static_cast<int>(errc::refused); ++value) {
    const auto code = static_cast<errc>(value);
    EXPECT_NE(make_error_code(code).message(), "") << value;
    if (wire_name(code).empty()) continue;
    EXPECT_EQ(errc_of(wire_name(code)), code) << wire_name(code);
    EXPECT_GE(http_status(code), 400) << wire_name(code);
  }
  EXPECT_EQ(errc_of("SOMETHING_LATER"), errc::refused);
  EXPECT_EQ(errc_of(""), errc::bad_answer);
}

}  // namespace
}  // namespace braidmq::admin_client

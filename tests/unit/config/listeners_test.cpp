#include "config/listeners.hpp"

#include <gtest/gtest.h>

#include "config/errc.hpp"

namespace braidmq::config {
namespace {

TEST(listeners, reads_names_and_addresses) {
  const auto all = parse_listeners("PLAINTEXT://127.0.0.1:9092, INTERNAL://:9094,V6://[::1]:0");
  ASSERT_TRUE(all.has_value()) << all.error().to_string();
  EXPECT_EQ(*all,
            (std::vector<listener>{{"PLAINTEXT", {"127.0.0.1", 9092}}, {"INTERNAL", {"", 9094}}, {"V6", {"::1", 0}}}));
  EXPECT_TRUE(parse_listeners("")->empty());
}

TEST(listeners, says_what_is_wrong_with_which_listener) {
  const struct {
    const char* text;
    const char* words;
  } cases[] = {
      {"127.0.0.1:9092", "NAME://host:port"},         {"plaintext://127.0.0.1:9092", "capital letters"},
      {"://127.0.0.1:9092", "capital letters"},       {"PLAINTEXT://127.0.0.1", "the port is missing"},
      {"PLAINTEXT://127.0.0.1:70000", "0 to 65535"},  {"PLAINTEXT://::1:9092", "[address]:port"},
      {"SSL://127.0.0.1:9093", "not built yet"},      {"SASL_PLAINTEXT://127.0.0.1:9093", "not built yet"},
      {"A://h:1,A://h:2", "listener A occurs twice"}, {"A://h:1,B://h:1", "the same address h:1"},
      {"A://h:1,,B://h:2", "NAME://host:port"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse_listeners(one.text);
    ASSERT_FALSE(parsed.has_value()) << one.text;
    EXPECT_NE(parsed.error().message.find(one.words), std::string::npos) << parsed.error().message;
  }
}

TEST(listeners, two_may_ask_for_any_free_port) {
  EXPECT_TRUE(parse_listeners("A://h:0,B://h:0").has_value());
}

TEST(advertise, takes_what_is_given_and_else_where_we_listen) {
  const auto listen = parse_listeners("A://10.0.0.1:1,B://0.0.0.0:2").value();
  const auto shown = advertise(listen, parse_listeners("B://broker-0.svc:2222").value(), {});
  ASSERT_TRUE(shown.has_value()) << shown.error().to_string();
  EXPECT_EQ(*shown, (std::vector<listener>{{"A", {"10.0.0.1", 1}}, {"B", {"broker-0.svc", 2222}}}));
}

TEST(advertise, refuses_addresses_that_nobody_can_reach_and_unknown_names) {
  for (const auto* text : {"A://:1", "A://0.0.0.0:1", "A://[::]:1"}) {
    const auto shown = advertise(parse_listeners(text).value(), {}, {});
    ASSERT_FALSE(shown.has_value()) << text;
    EXPECT_NE(shown.error().message.find("clients cannot connect"), std::string::npos);
  }
  const auto unknown = advertise(parse_listeners("A://h:1").value(), parse_listeners("B://h:1").value(), {});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("B is not in listeners"), std::string::npos);
}

TEST(advertise, leaves_out_what_is_pushed) {
  const auto listen = parse_listeners("A://10.0.0.1:1,B://0.0.0.0:2").value();
  const auto shown = advertise(listen, {}, {"B"});
  ASSERT_TRUE(shown.has_value()) << shown.error().to_string();
  EXPECT_EQ(*shown, (std::vector<listener>{{"A", {"10.0.0.1", 1}}}));
  const auto both = advertise(listen, parse_listeners("B://broker-0.svc:2222").value(), {"B"});
  ASSERT_FALSE(both.has_value());
  EXPECT_NE(both.error().message.find("also in braid.advertised.pushed"), std::string::npos);
}

TEST(names, are_of_listeners_and_occur_once) {
  const auto listen = parse_listeners("A://h:1,B://h:2").value();
  EXPECT_EQ(parse_names("B, A", listen).value(), (std::vector<std::string>{"B", "A"}));
  EXPECT_TRUE(parse_names("", listen)->empty());
  EXPECT_NE(parse_names("A,C", listen).error().message.find("\"C\" is not in listeners"), std::string::npos);
  EXPECT_NE(parse_names("A,A", listen).error().message.find("A occurs twice"), std::string::npos);
}

}  // namespace
}  // namespace braidmq::config

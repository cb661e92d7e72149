#include "ctl/parse.hpp"

#include <gtest/gtest.h>

namespace braidmq::ctl {
namespace {

using namespace std::chrono_literals;

TEST(parse, durations) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("120s"), 120s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("0s"), 0s);
  for (const char* text : {"", "5", "s", "-1s", "1.5s", "1h", "1 s", "99999999999s", "1sx"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(parse, configs) {
  EXPECT_EQ(parse_configs({"a=b", "c=d=e", "f="}),
            (std::map<std::string, std::string>{{"a", "b"}, {"c", "d=e"}, {"f", ""}}));
  EXPECT_FALSE(parse_configs({"a"}));
  EXPECT_FALSE(parse_configs({"=a"}));
  EXPECT_FALSE(parse_configs({"a=b", "a=c"}));
}

TEST(parse, records) {
  const auto plain = parse_record("orders=a=b");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->topic, "orders");
  EXPECT_FALSE(plain->partition);
  EXPECT_FALSE(plain->key);
  EXPECT_EQ(plain->value, "a=b");
  EXPECT_EQ(parse_record("orders:12=")->partition, 12);
  EXPECT_EQ(parse_record("orders:12=")->value, "");
  for (const char* text :
       {"", "orders", "=a", ":1=a", "orders:=a", "orders:x=a", "orders:-1=a", "orders:1x=a", "orders:99999999999=a"}) {
    EXPECT_FALSE(parse_record(text)) << text;
  }
}

TEST(parse, lines) {
  const auto whole = parse_line("orders\tk\tv\tw\r");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->topic, "orders");
  EXPECT_EQ(whole->key, "k");
  EXPECT_EQ(whole->value, "v\tw");
  EXPECT_FALSE(parse_line("orders\t\tv")->key);
  EXPECT_EQ(parse_line("orders\t\t")->value, "");
  for (const char* text : {"", "orders", "orders\tv", "\tk\tv"}) EXPECT_FALSE(parse_line(text)) << text;
}

TEST(parse, topics) {
  EXPECT_EQ(parse_topic("orders")->name, "orders");
  EXPECT_FALSE(parse_topic("orders")->partition);
  EXPECT_EQ(parse_topic("orders:12")->name, "orders");
  EXPECT_EQ(parse_topic("orders:12")->partition, 12);
  for (const char* text : {"", ":1", "orders:", "orders:x", "orders:-1", "orders:1:2", "orders:99999999999"}) {
    EXPECT_FALSE(parse_topic(text)) << text;
  }
}

TEST(parse, starts) {
  using kind = kafka_client::start_position::kind;
  constexpr std::int64_t now = 1'700'000'000'000;
  const auto is = [](std::string_view text, kind what, std::int64_t value) {
    const auto parsed = parse_start(text, now);
    return parsed && parsed->what == what && parsed->value == value;
  };
  EXPECT_TRUE(is("earliest", kind::earliest, 0));
  EXPECT_TRUE(is("latest", kind::latest, 0));
  EXPECT_TRUE(is("0", kind::offset, 0));
  EXPECT_TRUE(is("9223372036854775807", kind::offset, 9'223'372'036'854'775'807));
  EXPECT_TRUE(is("10m", kind::time, now - 600'000));
  EXPECT_TRUE(is("1970-01-01T00:00:00Z", kind::time, 0));
  EXPECT_TRUE(is("2023-11-14T22:13:20Z", kind::time, now));
  EXPECT_TRUE(is("2024-02-29T23:59:59.250Z", kind::time, 1'709'251'199'250));
  for (const char* text : {"", "-1", "+1", "9223372036854775808", "newest", "2023-11-14", "2023-11-14T22:13:20",
                           "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-11-14T24:00:00Z",
                           "2023-11-14T22:13:60Z", "2023-11-14 22:13:20Z", "2023-11-14T22:13:20.25Z"}) {
    EXPECT_FALSE(parse_start(text, now)) << text;
  }
}

TEST(parse, addresses) {
  EXPECT_EQ(url_of("127.0.0.1:9644"), "http://127.0.0.1:9644");
  EXPECT_EQ(url_of("http://h:1"), "http://h:1");
}

}  // namespace
}  // namespace braidmq::ctl

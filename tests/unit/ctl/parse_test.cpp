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

TEST(parse, addresses) {
  EXPECT_EQ(url_of("127.0.0.1:9644"), "http://127.0.0.1:9644");
  EXPECT_EQ(url_of("http://h:1"), "http://h:1");
}

}  // namespace
}  // namespace braidmq::ctl

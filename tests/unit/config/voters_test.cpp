#include "config/voters.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"

namespace braidmq::config {
namespace {

TEST(voters, are_read_by_rising_id_with_the_hosts_of_one_list_for_both_ports) {
  const auto all = parse_voters("2@broker-2.svc:9095, 0@broker-0.svc:9095,1@[::1]:9095", "", 9094);
  ASSERT_TRUE(all.has_value()) << all.error().to_string();
  EXPECT_EQ(*all, (std::vector<voter>{{0, {"broker-0.svc", 9095}, {"broker-0.svc", 9094}},
                                      {1, {"::1", 9095}, {"::1", 9094}},
                                      {2, {"broker-2.svc", 9095}, {"broker-2.svc", 9094}}}));
  EXPECT_TRUE(parse_voters("", "", 9094)->empty());
}

TEST(voters, have_the_braid_addresses_that_are_given) {
  const auto all = parse_voters("0@h:1,1@h:2,2@h:3", "2@h:13,0@h:11,1@h:12", 9094);
  ASSERT_TRUE(all.has_value()) << all.error().to_string();
  EXPECT_EQ(*all, (std::vector<voter>{{0, {"h", 1}, {"h", 11}}, {1, {"h", 2}, {"h", 12}}, {2, {"h", 3}, {"h", 13}}}));
}

TEST(voters, say_what_is_wrong) {
  const struct {
    const char* metadata;
    const char* braid;
    const char* words;
  } cases[] = {
      {"h:9095", "", "ID@host:port"},
      {"x@h:9095", "", "ID@host:port"},
      {"-1@h:9095", "", "ID@host:port"},
      {"0x@h:9095", "", "ID@host:port"},
      {"0@a:9095,,1@b:9095", "", "ID@host:port"},
      {"0@h", "", "the port is missing"},
      {"0@:9095", "", "others must be able to connect"},
      {"0@h:0", "", "others must be able to connect"},
      {"0@h:1,0@h:2,1@h:3", "", "broker 0 is given twice"},
      {"0@h:1,1@h:1,2@h:3", "", "broker 0 has the same address"},
      {"0@a:1,1@b:1", "", "take an odd number"},
      {"0@h:1,1@h:2,2@h:3", "", "are on one host"},
      {"0@h:1,1@h:2,2@h:3", "0@h:4,1@h:5", "braid.voters lacks broker 2"},
      {"0@h:1", "0@h:4,1@h:5", "controller.quorum.voters lacks broker 1"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse_voters(one.metadata, one.braid, 9094);
    ASSERT_FALSE(parsed.has_value()) << one.metadata;
    EXPECT_NE(parsed.error().message.find(one.words), std::string::npos) << parsed.error().message;
  }
}

TEST(voters, of_a_configuration_need_a_secret_and_this_broker) {
  const std::vector<std::string> three{"data.dir=/d", "controller.quorum.voters=0@a:1,1@b:1,2@c:1"};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = three;
    all.insert(all.end(), more.begin(), more.end());
    return parse_config("", "test", all);
  };
  EXPECT_NE(with({}).error().message.find("braid.secret.file"), std::string::npos);
  EXPECT_NE(with({"broker.id=7", "braid.secret.file=/s"}).error().message.find("broker 7 is not among"),
            std::string::npos);
  const auto whole = with({"braid.secret.file=/s", "braid.listener=:7094"});
  ASSERT_TRUE(whole.has_value()) << whole.error().to_string();
  EXPECT_EQ(whole->voters.size(), 3U);
  EXPECT_EQ(whole->voters[1].braid, (io::endpoint{"b", 7094}));
  EXPECT_NE(with({"braid.secret.file=/s", "braid.heartbeat.ms=200"}).error().message.find("3 times"),
            std::string::npos);
  const auto alone = parse_config("", "test", {"data.dir=/d", "braid.voters=0@a:1"});
  EXPECT_NE(alone.error().message.find("without controller.quorum.voters"), std::string::npos);
}

}  // namespace
}  // namespace braidmq::config

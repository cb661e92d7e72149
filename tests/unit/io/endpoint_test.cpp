#include "io/endpoint.hpp"

#include <gtest/gtest.h>

#include "io/errc.hpp"

namespace braidmq::io {
namespace {

TEST(endpoint, reads_and_writes_what_people_write) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:9092").value(), (endpoint{"127.0.0.1", 9092}));
  EXPECT_EQ(parse_endpoint("[::1]:9092").value(), (endpoint{"::1", 9092}));
  EXPECT_EQ(parse_endpoint(":0").value(), (endpoint{"", 0}));
  EXPECT_EQ(parse_endpoint("broker-0.kafka.svc:65535").value(), (endpoint{"broker-0.kafka.svc", 65535}));
  EXPECT_EQ((endpoint{"::1", 9092}.to_string()), "[::1]:9092");
  EXPECT_EQ((endpoint{"a", 1}.to_string()), "a:1");
}

TEST(endpoint, refuses_with_the_text_and_the_reason) {
  for (const auto* text : {"", "host", "host:", "host:x", "host:65536", "host:-1", "host:12 ", "::1:9092", "[::1]9092",
                           "[::1", "PLAINTEXT://host:9092", "a b:1", "host:99999999999999999999"}) {
    const auto parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, errc::bad_address);
    EXPECT_NE(parsed.error().message.find(std::string("\"") + text + "\""), std::string::npos);
  }
}

}  // namespace
}  // namespace braidmq::io

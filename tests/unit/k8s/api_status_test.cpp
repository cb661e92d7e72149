#include "k8s/api_status.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

TEST(api_status_test, a_status_object_gives_reason_message_and_retry) {
  const auto status = decode_status(
      429, R"({"kind":"Status","reason":"TooManyRequests","message":"slow","details":{"retryAfterSeconds":7}})");
  EXPECT_EQ(status.code, 429);
  EXPECT_EQ(status.reason, "TooManyRequests");
  EXPECT_EQ(status.message, "slow");
  EXPECT_EQ(status.retry_after, 7s);
}

TEST(api_status_test, other_bodies_are_quoted_short_and_printable) {
  const auto status = decode_status(502, "<html>\r\nbad\x01 gateway \xff" + std::string(5000, 'x'));
  EXPECT_EQ(status.code, 502);
  EXPECT_LT(status.message.size(), 300U);
  EXPECT_EQ(status.message.find('\n'), std::string::npos);
  EXPECT_NE(status.message.find("bad  gateway ?"), std::string::npos) << status.message;
  EXPECT_EQ(decode_status(404, "").message, "the server could not find the resource");
}

TEST(api_status_test, odd_members_are_as_good_as_none) {
  const auto status = decode_status(
      500, R"({"kind":"Status","reason":7,"message":["x"],"code":"y","details":{"retryAfterSeconds":-1}})");
  EXPECT_EQ(status.reason, "");
  EXPECT_EQ(status.message, "the server answered 500");
  EXPECT_EQ(status.retry_after, std::nullopt);
  EXPECT_EQ(decode_status(429, R"({"kind":"Status","details":{"retryAfterSeconds":99999999999}})").retry_after, 3600s);
}

TEST(api_status_test, a_long_message_is_cut_on_a_character) {
  std::string message = "a";
  for (int i = 0; i < 2000; ++i) message += "\xC3\xA9";
  const auto status = decode_status(500, json{{"kind", "Status"}, {"message", message}}.dump());
  EXPECT_EQ(status.message.size(), 2047U);
}

TEST(api_status_test, in_a_stream_the_code_of_the_object_counts) {
  EXPECT_EQ(decode_stream_status(json::parse(R"({"kind":"Status","code":410,"reason":"Expired"})")).code, 410);
  EXPECT_EQ(decode_stream_status(json::parse(R"({"kind":"Status","code":7})")).code, 500);
  EXPECT_EQ(decode_stream_status(json::parse("{}")).code, 500);
  EXPECT_EQ(to_error(decode_stream_status(json::parse(R"({"code":410})")), operation::read).code,
            make_error_code(errc::gone));
}

TEST(api_status_test, an_answer_is_an_object) {
  EXPECT_TRUE(decode_object("{}"));
  for (const char* bad : {"", "[]", "null", "{", "{\"a\":1e999}", "{\"a\":\"\xff\"}", "{} x"}) {
    const auto got = decode_object(bad);
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().code, make_error_code(errc::bad_response));
  }
}

}  // namespace
}  // namespace braidmq::k8s

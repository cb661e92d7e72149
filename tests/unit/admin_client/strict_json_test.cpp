#include "admin_client/strict_json.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "admin_client/errc.hpp"

namespace braidmq::admin_client {
namespace {

TEST(strict_json, reads_values_as_they_are) {
  const char* texts[] = {R"({"a":[1,-2,3.5,"x",null,true,{}],"b":{"c":""},"d":18446744073709551615})",
                         "[]",
                         "5",
                         "null",
                         R"("text")",
                         R"([[],[[]],{"":{"":[]}}])"};
  for (const char* text : texts) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value.has_value()) << text << value.error().to_string();
    EXPECT_EQ(*value, nlohmann::json::parse(text)) << text;
  }
}

TEST(strict_json, refuses_with_the_reason) {
  const struct {
    std::string text;
    const char* words;
  } cases[] = {
      {R"({"a":1,"b":2,"a":1})", "\"a\" is given twice"},
      {R"({"x":{"a":1,"a":2}})", "\"a\" is given twice"},
      {std::string(17, '[') + std::string(17, ']'), "deeper than 16 levels"},
      {std::string(100'000, '['), "deeper than 16 levels"},
      {"", "not JSON"},
      {"{", "not JSON"},
      {R"({"a":1} x)", "not JSON"},
      {R"({"a":1}{"a":1})", "not JSON"},
      {R"({"a":01})", "not JSON"},
      {R"({'a':1})", "not JSON"},
      {R"({"a":NaN})", "not JSON"},
      {R"({"a":1e999})", "not JSON"},
      {"{\"a\":\"\xff\"}", "not JSON"},
      {R"({"a":"\ud800"})", "not JSON"},
      {"{\"a\":\"line\nbreak\"}", "not JSON"},
      {R"(/* c */ {})", "not JSON"},
      {R"([1,])", "not JSON"},
  };
  for (const auto& one : cases) {
    const auto value = parse_json(one.text);
    ASSERT_FALSE(value.has_value()) << one.text;
    EXPECT_EQ(value.error().code, errc::invalid_request);
    EXPECT_NE(value.error().message.find(one.words), std::string::npos) << one.text << ": " << value.error().message;
  }
  EXPECT_TRUE(parse_json(std::string(16, '[') + std::string(16, ']')).has_value());
}

TEST(strict_json, survives_any_damage) {
  const std::string good = R"({"name":"orders","partitions":12,"configs":{"a":"b","c":null},"list":[1,2,{"x":[]}]})";
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (auto edits = random() % 3 + 1; edits > 0; --edits) {
      constexpr std::string_view alphabet = "{}[]\",:\\0ntf \xff\xc3";
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    }
    if (!parse_json(text)) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace braidmq::admin_client

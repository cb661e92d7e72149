// The comparison itself: it must see every kind of difference, or its zero means nothing.
#include <gtest/gtest.h>

#include "conformance/schema_model.hpp"
#include "protocol/schemagen/check.hpp"
#include "protocol/schemagen/emit.hpp"
#include "protocol/schemagen/parser.hpp"

namespace braidmq::conformance {
namespace {

constexpr std::string_view kafka_text = R"({
  // comments are part of the format
  "apiKey": 99, "type": "request", "name": "ProbeRequest", "validVersions": "1-4", "flexibleVersions": "3+",
  "fields": [
    { "name": "Count", "type": "int32", "versions": "0+", "default": "0x10" },
    { "name": "Reason", "type": "string", "versions": "2+", "nullableVersions": "3+", "ignorable": true },
    { "name": "Items", "type": "[]Item", "versions": "1-3", "ignorable": true, "fields": [
      { "name": "Id", "type": "int64", "versions": "1+" }
    ]},
    { "name": "Extra", "type": "bool", "versions": "3+", "taggedVersions": "3+", "tag": 0, "default": "true", "ignorable": true }
  ]
})";

constexpr std::string_view our_text = R"(
request Probe api 99 versions 1..4 flexible 3.. {
  count:  int32 = 16
  reason: string? 3.. @ 2.. ignorable
  items:  []item @ ..3 ignorable { id: int64 }
  extra:  bool @ 3.. tag 0 = true ignorable
  own:    bool @ 3.. tag 9001 extension
}
response Probe api 99 versions 1..4 flexible 3.. {}
)";

// The differences when `from` in our schema reads `to`.
std::vector<std::string> differences(std::string_view from = "", std::string_view to = "") {
  std::string text(our_text);
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  EXPECT_TRUE(from.empty() || text != our_text) << from;
  auto parsed = schemagen::parse(text);
  schemagen::schema_file file{"probe", "probe.schema",
                              std::get<std::vector<schemagen::message_def>>(std::move(parsed))};
  EXPECT_TRUE(schemagen::check(file.messages).empty()) << from << " -> " << to;
  return compare(parse_ours(schemagen::emit_description({file})).front(), parse_kafka(std::string(kafka_text)))
      .differences;
}

TEST(compare, equal_schemas_do_not_differ) {
  EXPECT_EQ(differences(), std::vector<std::string>{});
}

TEST(compare, sees_every_kind_of_difference) {
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"api 99", "api 98"},
      {"versions 1..4", "versions 1..5"},
      {"flexible 3..", "flexible 2.."},
      {"count:  int32", "number: int32"},
      {"int32 = 16", "int64 = 16"},
      {"int32 = 16", "int32 = 17"},
      {"int32 = 16", "int32 = 16 @ 2.."},
      {"string? 3..", "string? 2.."},
      {"string? 3.. @ 2.. ignorable", "string? 3.. @ 2.."},
      {"{ id: int64 }", "{ id: uuid }"},
      {"{ id: int64 }", "{ id: int64   more: int8 }"},
      {"[]item @ ..3", "item @ ..3"},
      {"tag 0 = true", "tag 1 = true"},
      {"tag 0 = true", "= true"},
      {"9001 extension", "9001"},
      {"versions 1..4 flexible", "versions 1..4 unstable 4 flexible"},
  };
  for (const auto& [from, to] : changes) EXPECT_FALSE(differences(from, to).empty()) << from << " -> " << to;
}

TEST(compare, fewer_versions_than_kafka_are_fine) {
  EXPECT_EQ(differences("versions 1..4", "versions 2..4"), std::vector<std::string>{});
}

TEST(compare, names_message_version_and_field) {
  const auto found = differences("{ id: int64 }", "{ id: uuid }");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front(), "ProbeRequest v1 items.id: type is 'uuid', in Kafka 'int64'");
}

}  // namespace
}  // namespace braidmq::conformance

// The schema compiler's errors name line and column of what is wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "protocol/schemagen/check.hpp"
#include "protocol/schemagen/emit.hpp"
#include "protocol/schemagen/lexer.hpp"
#include "protocol/schemagen/parser.hpp"

namespace braidmq::schemagen {
namespace {

// "line:column: text" of the first error, or "" for a sound schema.
std::string first_error(std::string_view source) {
  const auto text = [](const schema_error& e) { return fmt::format("{}:{}: {}", e.at.line, e.at.column, e.text); };
  auto parsed = parse(source);
  if (const auto* error = std::get_if<schema_error>(&parsed)) return text(*error);
  const auto errors = check(std::get<std::vector<message_def>>(parsed));
  return errors.empty() ? "" : text(errors.front());
}

std::string in_record(std::string_view fields) {
  return fmt::format("record Probe versions 0..5 flexible 3.. {{\n{}\n}}\n", fields);
}

schema_file load(std::string_view source) {
  schema_file file{"probe", "probe.schema", std::get<std::vector<message_def>>(parse(source))};
  EXPECT_TRUE(check(file.messages).empty());
  return file;
}

TEST(lexer, refuses_stray_characters_and_open_strings) {
  EXPECT_EQ(first_error("record Probe $"), "1:14: unexpected character '$'");
  EXPECT_EQ(first_error(in_record("  a: string = \"x")), "2:15: string without its closing quote");
}

TEST(lexer, gives_comments_to_the_token_that_they_describe) {
  const auto tokens = std::get<std::vector<token>>(tokenize("# stands alone\n\n# one\n# two\nname # behind\n"));
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].leading_doc, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(tokens[0].trailing_doc, "behind");
  EXPECT_EQ(tokens[0].at.line, 5);
}

TEST(parser, says_what_it_expected_and_where) {
  EXPECT_EQ(first_error("table Probe"), "1:1: expected 'request', 'response', 'header' or 'record', found 'table'");
  EXPECT_EQ(first_error("request Probe versions 0"), "1:15: expected 'api' and the API key");
  EXPECT_EQ(first_error("record Probe versions x"),
            "1:23: expected the message's versions, such as 3..13, 9.., ..12 or 5");
  EXPECT_EQ(first_error("record Probe versions 0..1 flexible none {\n  a int8\n}"),
            "2:5: expected ':' after the name of a field");
  EXPECT_EQ(first_error(in_record("  a: [ int8")), "2:8: expected ']' after '['");
  EXPECT_EQ(first_error(in_record("  a: int8 maybe")), "2:11: 'maybe' is no attribute of a field");
  EXPECT_EQ(first_error(in_record("  a: int8 tag -1")), "2:15: expected the tag, a number from 0");
  EXPECT_EQ(first_error(in_record("  a: int8 { b: int8 }")), "2:11: int8 has no fields");
  EXPECT_EQ(first_error("record Probe versions 0 flexible none {\n  a: int8\n"),
            "3:1: expected the name of a field, or '}', found the end of the file");
}

TEST(parser, attribute_words_may_be_field_names) {
  EXPECT_EQ(first_error(in_record("  a: int8\n  tag: int8\n  ignorable: int8 ignorable\n  as: int32 as broker_id")),
            "");
}

TEST(check, versions) {
  EXPECT_EQ(first_error("record Probe versions 0.. flexible none { a: int8 }"),
            "1:1: the message's versions need an end");
  EXPECT_EQ(first_error("record Probe versions 0..5 flexible 3..4 { a: int8 }"),
            "1:37: flexible versions reach to the message's last version");
  EXPECT_EQ(first_error(in_record("  a: int8 @ 4..6")), "2:13: versions of 'a': 4..6 is not within 0..5");
  EXPECT_EQ(first_error(in_record("  a: int8 @ 4..2")), "2:13: versions of 'a': 4..2 is empty");
  EXPECT_EQ(first_error(in_record("  a: string? 1.. @ 2..")),
            "2:14: nullable versions of 'a': 1..5 is not within 2..5");
  EXPECT_EQ(first_error(in_record("  a: []inner @ 2.. {\n    b: int8 @ 1..\n  }")),
            "3:15: versions of 'b': 1..5 is not within 2..5");
}

TEST(check, names) {
  EXPECT_EQ(first_error(in_record("  aB: int8")), "2:3: 'aB' is not snake_case");
  EXPECT_EQ(first_error(in_record("  delete: int8")), "2:3: 'delete' cannot be the name of a C++ member here");
  EXPECT_EQ(first_error(in_record("  a: int8\n  a: int8")), "3:3: field 'a' is defined twice");
  EXPECT_EQ(first_error(in_record("  a: a {\n    b: int8\n  }")),
            "2:3: field 'a' has the name of a structure; rename the structure");
  EXPECT_EQ(first_error(in_record("  a: []x { b: int8 }\n  c: []x { b: int8 }")),
            "3:3: structure 'x' is defined twice in this message");
}

TEST(check, types) {
  EXPECT_EQ(first_error(in_record("  a: nothing")), "2:3: there is no type 'nothing'");
  EXPECT_EQ(first_error(in_record("  a: int32?")), "2:3: int32 cannot be null");
  EXPECT_EQ(first_error(in_record("  a: int32 as shoe_size")), "2:15: there is no strong type 'shoe_size'");
  EXPECT_EQ(first_error(in_record("  a: int64 as broker_id")), "2:15: 'broker_id' does not stand for int64");
  EXPECT_EQ(first_error(in_record("  a: []late\n  common late { b: int8 }")),
            "2:3: common structure 'late' must stand before its use");
}

TEST(check, defaults) {
  EXPECT_EQ(first_error(in_record("  a: int8 = 128")), "2:13: '128' is no default for 'a'");
  EXPECT_EQ(first_error(in_record("  a: bool = 1")), "2:13: '1' is no default for 'a'");
  EXPECT_EQ(first_error(in_record("  a: string = null")), "2:15: 'null' is no default for 'a'");
  EXPECT_EQ(first_error(in_record("  a: int8 = -128\n  b: uint32 = 0xffffffff\n  c: string? = null")), "");
}

TEST(check, tags) {
  EXPECT_EQ(first_error(in_record("  a: int8 tag 0")), "2:3: 'a' has a tag in versions that are not flexible");
  EXPECT_EQ(first_error(in_record("  a: int8 @ 3.. tag 0\n  b: int8 @ 4.. tag 0")), "3:3: tag 0 is used twice");
}

TEST(check, requests_have_responses) {
  EXPECT_EQ(first_error("request Probe api 1 versions 0 flexible none {}"),
            "1:1: request Probe has no response in this file");
  EXPECT_EQ(first_error(
                "request Probe api 1 versions 0 flexible none {}\nresponse Probe api 1 versions 0..1 flexible none {}"),
            "1:1: request and response of Probe have different versions");
}

TEST(check, reports_all_errors_of_a_file) {
  auto messages = std::get<std::vector<message_def>>(parse(in_record("  a: int8 = 999\n  b: nothing")));
  EXPECT_EQ(check(messages).size(), 2U);
}

TEST(emit, minimal_element_size_follows_the_version) {
  const std::string source = emit_source(load(in_record("  a: []x {\n    s: string\n    n: int32 @ 4..\n  }")));
  EXPECT_NE(source.find("in.read_array_count(version >= 4 ? 6 : 2)"), std::string::npos) << source;
}

TEST(emit, comments_become_doc_comments) {
  const std::string header = emit_header(load(in_record("  # above\n  a: int8   # behind")));
  EXPECT_NE(header.find("  // above\n  // behind\n  std::int8_t a = 0;"), std::string::npos) << header;
}

}  // namespace
}  // namespace braidmq::schemagen

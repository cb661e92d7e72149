#include "protocol/wire_writer.hpp"

#include <gtest/gtest.h>

#include "protocol/json_writer.hpp"
#include "protocol/wire_reader.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

template <class Write>
std::string written(bool flexible, Write write) {
  byte_buffer buffer;
  wire_writer out(buffer, flexible);
  write(out);
  EXPECT_TRUE(out.ok());
  return to_hex(buffer.view());
}

TEST(wire_writer, lengths_are_compact_in_flexible_versions) {
  EXPECT_EQ(written(false, [](auto& out) { out.write_string("ab"); }), "00 02 61 62");
  EXPECT_EQ(written(true, [](auto& out) { out.write_string("ab"); }), "03 61 62");
  EXPECT_EQ(written(true, [](auto& out) { out.write_string(std::string(127, 'a')); }).substr(0, 8), "80 01 61");
  EXPECT_EQ(written(false, [](auto& out) { out.write_bytes(from_hex("aa")); }), "00 00 00 01 aa");
  EXPECT_EQ(written(true, [](auto& out) { out.write_bytes(from_hex("aa")); }), "02 aa");
  EXPECT_EQ(written(false, [](auto& out) { out.write_array_count(3); }), "00 00 00 03");
  EXPECT_EQ(written(true, [](auto& out) { out.write_array_count(3); }), "04");
}

TEST(wire_writer, nulls) {
  EXPECT_EQ(written(false, [](auto& out) { out.write_nullable_string(std::nullopt); }), "ff ff");
  EXPECT_EQ(written(true, [](auto& out) { out.write_nullable_string(std::nullopt); }), "00");
  EXPECT_EQ(written(false, [](auto& out) { out.write_nullable_bytes(std::nullopt); }), "ff ff ff ff");
  EXPECT_EQ(written(true, [](auto& out) { out.write_null_array(); }), "00");
  EXPECT_EQ(written(true, [](auto& out) { out.write_classic_nullable_string(std::nullopt); }), "ff ff");
  EXPECT_EQ(written(true, [](auto& out) { out.write_classic_nullable_string("a"); }), "00 01 61");
}

TEST(wire_writer, strings_beyond_the_bound_are_refused) {
  for (const bool flexible : {false, true}) {
    byte_buffer buffer;
    wire_writer out(buffer, flexible);
    out.write_string(std::string(max_string_size_bytes, 'a'));
    EXPECT_TRUE(out.ok());
    out.write_string(std::string(max_string_size_bytes + 1, 'a'));
    EXPECT_EQ(out.state("probe").error().code, errc::too_long);
  }
}

TEST(wire_writer, tagged_fields_are_measured_and_nest) {
  const std::string text = written(true, [](auto& out) {
    const auto outer = out.begin_tagged_field(1);
    out.template write_int<std::int8_t>(7);
    const auto inner = out.begin_tagged_field(300);
    out.write_bytes(bytes::copy_of(std::string(128, 'x')));
    out.end_tagged_field(inner);
    out.end_tagged_field(outer);
  });
  // 1: tag; 135 = 1 + 2 + 2 + 130 in two bytes; 7; tag 300; 130 bytes; their own length 128 + 1.
  EXPECT_EQ(text.substr(0, 29), "01 87 01 07 ac 02 82 01 81 01");
}

TEST(json_writer, escapes_what_could_forge_a_log_line) {
  json_writer json;
  json.begin_object();
  json.key("client");
  json.value("a\"b\\c\r\n\x7f");
  json.key("records");
  json.value(from_hex("01 02"));
  json.key("list");
  json.begin_array();
  json.value(1);
  json.null();
  json.value(true);
  json.begin_object();
  json.end_object();
  json.end_array();
  json.key("error");
  json.value(error_code::not_controller);
  json.end_object();
  EXPECT_EQ(
      json.take(),
      R"({"client":"a\"b\\c\u000d\u000a\u007f","records":"<2 bytes>","list":[1,null,true,{}],"error":"NOT_CONTROLLER"})");
}

}  // namespace
}  // namespace braidmq::protocol

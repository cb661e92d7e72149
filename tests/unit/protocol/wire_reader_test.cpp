// Hostile bytes: rows F5, F6 and F7 of broker/docs/bad-input.md.
#include "protocol/wire_reader.hpp"

#include <gtest/gtest.h>

#include "protocol/wire_writer.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

wire_reader classic(std::string_view hex) {
  return {from_hex(hex), false};
}
wire_reader flexible(std::string_view hex) {
  return {from_hex(hex), true};
}

std::error_code failure(const wire_reader& in) {
  const status state = in.state("probe");
  return state ? std::error_code{} : state.error().code;
}

TEST(wire_reader, reads_numbers_big_endian) {
  auto in = classic("01 80 ff fe 00 00 01 00 ff ff ff ff ff ff ff ff 3f f0 00 00 00 00 00 00");
  EXPECT_TRUE(in.read_bool());
  EXPECT_EQ(in.read_int<std::int8_t>(), -128);
  EXPECT_EQ(in.read_int<std::uint16_t>(), 0xfffe);
  EXPECT_EQ(in.read_int<std::int32_t>(), 256);
  EXPECT_EQ(in.read_int<std::int64_t>(), -1);
  EXPECT_EQ(in.read_float64(), 1.0);
  EXPECT_TRUE(in.finish("probe"));
}

TEST(wire_reader, first_failure_stays_and_later_reads_give_defaults) {
  auto in = classic("00 05 61");
  EXPECT_EQ(in.read_string(), "");
  EXPECT_EQ(in.read_int<std::int8_t>(), 0);  // the byte is there, but the reader is done for
  const status state = in.finish("probe");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, errc::truncated);
  EXPECT_EQ(state.error().message, "probe: at byte 2: 5 bytes wanted, 1 left");
}

TEST(wire_reader, bytes_share_the_frame) {
  const bytes frame = from_hex("00 00 00 02 aa bb");
  wire_reader in(frame, false);
  const bytes block = in.read_bytes();
  EXPECT_EQ(block.data(), frame.data() + 4);
  EXPECT_EQ(block.size(), 2U);
}

TEST(wire_reader, null_and_empty_differ) {
  EXPECT_EQ(classic("ff ff").read_nullable_string(), std::nullopt);
  EXPECT_EQ(classic("00 00").read_nullable_string(), "");
  EXPECT_EQ(flexible("00").read_nullable_string(), std::nullopt);
  EXPECT_EQ(flexible("01").read_nullable_string(), "");
  EXPECT_EQ(classic("ff ff ff ff").read_nullable_bytes(), std::nullopt);
  EXPECT_EQ(flexible("01").read_nullable_bytes(), bytes{});
  EXPECT_EQ(classic("ff ff ff ff").read_nullable_array_count(1), std::nullopt);
  EXPECT_EQ(flexible("01").read_nullable_array_count(1), 0U);
}

TEST(wire_reader, null_is_refused_where_the_schema_has_none) {
  for (auto in : {classic("ff ff"), flexible("00")}) {
    in.read_string();
    EXPECT_EQ(failure(in), errc::malformed);
  }
  for (auto in : {classic("ff ff ff ff"), flexible("00")}) {
    wire_reader other = in;
    in.read_bytes();
    EXPECT_EQ(failure(in), errc::malformed);
    other.read_array_count(1);
    EXPECT_EQ(failure(other), errc::malformed);
  }
}

TEST(wire_reader, f5_array_count_beyond_the_remaining_bytes) {
  // Five elements of four bytes need 20 bytes; 19 are there.
  auto in = classic("00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  EXPECT_EQ(in.read_array_count(4), 0U);
  EXPECT_EQ(failure(in), errc::malformed);
  auto fits = classic("00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  EXPECT_EQ(fits.read_array_count(4), 5U);
  EXPECT_TRUE(fits.ok());
}

TEST(wire_reader, f5_largest_counts) {
  auto in = classic("7f ff ff ff 00");
  EXPECT_EQ(in.read_array_count(1), 0U);
  EXPECT_EQ(failure(in), errc::malformed);
  auto compact = flexible("ff ff ff ff 0f 00");
  EXPECT_EQ(compact.read_nullable_array_count(1), std::nullopt);
  EXPECT_EQ(failure(compact), errc::malformed);
  // Elements that take no bytes at all still count as one: a count alone never makes memory.
  auto empty_elements = classic("00 0f 42 40");
  EXPECT_EQ(empty_elements.read_array_count(0), 0U);
  EXPECT_EQ(failure(empty_elements), errc::malformed);
}

TEST(wire_reader, f7_negative_lengths) {
  for (auto in : {classic("ff fe"), classic("80 00")}) {
    in.read_nullable_string();
    EXPECT_EQ(failure(in), errc::malformed);
  }
  for (auto in : {classic("ff ff ff fe"), classic("80 00 00 00")}) {
    wire_reader other = in;
    in.read_nullable_bytes();
    EXPECT_EQ(failure(in), errc::malformed);
    other.read_nullable_array_count(1);
    EXPECT_EQ(failure(other), errc::malformed);
  }
}

TEST(wire_reader, f7_varints) {
  EXPECT_EQ(flexible("ff ff ff ff 0f").read_unsigned_varint(), 0xffffffffU);
  EXPECT_EQ(flexible("80 00").read_unsigned_varint(), 0U);
  for (auto in : {flexible("ff ff ff ff 1f"), flexible("80 80 80 80 80 00"), flexible("ff ff ff ff ff ff")}) {
    in.read_unsigned_varint();
    EXPECT_EQ(failure(in), errc::malformed);
  }
  for (auto in : {flexible(""), flexible("80"), flexible("ff ff ff ff")}) {
    in.read_unsigned_varint();
    EXPECT_EQ(failure(in), errc::truncated);
  }
}

TEST(wire_reader, f7_compact_strings_keep_the_classic_bound) {
  byte_buffer buffer;
  wire_writer out(buffer, true);
  out.write_unsigned_varint(max_string_size_bytes + 2);  // one more than allowed, and one for "not null"
  buffer.append(std::string(max_string_size_bytes + 1, 'a'));
  wire_reader in(buffer.freeze(), true);
  in.read_string();
  EXPECT_EQ(failure(in), errc::malformed);
}

TEST(wire_reader, f7_bad_utf8) {
  for (const char* hex : {"00 01 80", "00 02 c0 80", "00 02 c3 28", "00 03 ed a0 80", "00 03 e0 80 80",
                          "00 04 f4 90 80 80", "00 04 f0 80 80 80", "00 01 c3", "00 02 e2 82", "00 01 ff"}) {
    auto in = classic(hex);
    in.read_string();
    EXPECT_EQ(failure(in), errc::malformed) << hex;
  }
  EXPECT_EQ(classic("00 09 c3 a9 e2 82 ac f0 9f a6 84").read_string(), "\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x84");
  EXPECT_EQ(classic("00 03 00 ef bf").read_string(), "");  // cut inside of a character
  EXPECT_EQ(classic("00 01 00").read_string(), std::string(1, '\0'));
}

TEST(wire_reader, f7_trailing_bytes) {
  auto in = classic("00 00 00");
  in.read_string();
  EXPECT_EQ(in.finish("probe").error().code, errc::malformed);
}

std::error_code skip_all_tags(bytes block) {
  wire_reader in(std::move(block), true);
  tagged_fields_reader tags(in);
  while (tags.next()) tags.skip();
  const status state = in.finish("probe");
  return state ? std::error_code{} : state.error().code;
}

TEST(wire_reader, f6_a_flood_of_unknown_tags_is_cut_off) {
  const auto section = [](std::uint32_t count) {
    byte_buffer buffer;
    wire_writer out(buffer, true);
    out.write_unsigned_varint(count);
    for (std::uint32_t tag = 0; tag < count; ++tag) {
      out.write_unsigned_varint(tag);
      out.write_unsigned_varint(0);
    }
    return buffer.freeze();
  };
  EXPECT_EQ(skip_all_tags(section(max_unknown_tags)), std::error_code{});
  EXPECT_EQ(skip_all_tags(section(max_unknown_tags + 1)), errc::malformed);
  EXPECT_EQ(skip_all_tags(section(2'000'000)), errc::malformed);
}

TEST(wire_reader, f6_tags_rise_strictly) {
  EXPECT_EQ(skip_all_tags(from_hex("02 01 00 02 00")), std::error_code{});
  EXPECT_EQ(skip_all_tags(from_hex("02 01 00 01 00")), errc::malformed);
  EXPECT_EQ(skip_all_tags(from_hex("02 02 00 01 00")), errc::malformed);
}

TEST(wire_reader, f6_announced_but_absent_tags) {
  EXPECT_EQ(skip_all_tags(from_hex("80 da c4 09")), errc::malformed);  // 20,000,000 tags in no bytes
  EXPECT_EQ(skip_all_tags(from_hex("01 05 7f")), errc::truncated);     // a field longer than the message
}

TEST(wire_reader, tagged_fields_fill_their_size_exactly) {
  for (const auto& [hex, code] : {std::pair{"01 00 02 00 07", std::error_code{}},
                                  std::pair{"01 00 03 00 07 00", make_error_code(errc::malformed)},
                                  std::pair{"01 00 01 00 07", make_error_code(errc::truncated)}}) {
    auto in = flexible(hex);
    tagged_fields_reader tags(in);
    std::int16_t value = 0;
    while (tags.next()) value = in.read_int<std::int16_t>();
    EXPECT_EQ(failure(in), code) << hex;
    if (!code) EXPECT_EQ(value, 7);
  }
}

}  // namespace
}  // namespace braidmq::protocol

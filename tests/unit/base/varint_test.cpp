#include "base/varint.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace braidmq {
namespace {

TEST(Varint, RoundTripsAtEveryLength) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {(1ULL << bit) - 1, 1ULL << bit, (1ULL << bit) + 1}) {
      byte_buffer buffer;
      append_unsigned_varint(buffer, value);
      EXPECT_EQ(buffer.size(), unsigned_varint_size(value));
      const auto decoded = decode_unsigned_varint<std::uint64_t>(buffer.view());
      ASSERT_TRUE(decoded);
      EXPECT_EQ(decoded->value, value);
      EXPECT_EQ(decoded->length, buffer.size());
      EXPECT_FALSE(decode_unsigned_varint<std::uint64_t>(buffer.view().first(buffer.size() - 1))) << "cut short";
    }
  }
}

TEST(Varint, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(decode_unsigned_varint<std::uint32_t>(as_byte_view("\xff\xff\xff\xff\x1f")));
  EXPECT_TRUE(decode_unsigned_varint<std::uint32_t>(as_byte_view("\xff\xff\xff\xff\x0f")));
  EXPECT_FALSE(decode_unsigned_varint<std::uint32_t>(as_byte_view("\x80\x80\x80\x80\x80\x01"))) << "over-long";
}

TEST(Varint, ZigzagCoversTheRange) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(zigzag_decode(zigzag_encode(value)), value);
  }
  EXPECT_EQ(zigzag_encode(-1), 1U);
  EXPECT_EQ(zigzag_encode32(std::numeric_limits<std::int32_t>::min()), 0xffffffffU);
  EXPECT_EQ(zigzag_decode32(0xffffffffU), std::numeric_limits<std::int32_t>::min());
}

}  // namespace
}  // namespace braidmq

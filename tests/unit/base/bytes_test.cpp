#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/endian.hpp"

namespace braidmq {
namespace {

TEST(Bytes, SliceSharesTheBlockAndOutlivesItsOwner) {
  bytes slice;
  const std::byte* place = nullptr;
  {
    const bytes whole = bytes::copy_of("hello, world");
    place = whole.data();
    slice = whole.slice(7, 5);
  }
  EXPECT_EQ(as_string_view(slice), "world");
  EXPECT_EQ(slice.data(), place + 7);
}

TEST(Bytes, SliceBeyondTheEndIsABrokenInvariant) {
  const bytes block = bytes::copy_of("abc");
  EXPECT_DEATH((void)block.slice(2, 2), "slice 2\\+2 of 3");
  EXPECT_DEATH((void)block.slice(4, 0), "check failed");
}

TEST(ByteBuffer, WritesBigEndianAndPatches) {
  byte_buffer buffer;
  buffer.append_be<std::int16_t>(-2);
  buffer.append_be<std::uint32_t>(0);
  buffer.append("x");
  buffer.put_be<std::uint32_t>(2, 0x01020304U);
  EXPECT_EQ(load_be<std::int16_t>(buffer.view().data()), -2);
  const bytes frozen = buffer.freeze();
  EXPECT_EQ(as_string_view(frozen), std::string_view("\xff\xfe\x01\x02\x03\x04x"));
  EXPECT_EQ(buffer.size(), 0U);
}

TEST(Crc32c, KnownValuesAndChaining) {
  EXPECT_EQ(crc32c(as_byte_view("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(as_byte_view("6789"), crc32c(as_byte_view("12345"))), 0xe3069283U);
}

}  // namespace
}  // namespace braidmq

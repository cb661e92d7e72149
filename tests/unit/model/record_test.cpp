#include "model/record.hpp"

#include <gtest/gtest.h>

#include "helpers.hpp"
#include "model/record_scanner.hpp"

namespace braidmq::model {
namespace {

// The record parser and the streaming scanner are two readers of one format: both must give the same verdict.
bool both_accept(byte_view decoded, std::int32_t count) {
  record_reader reader(decoded, count);
  record_scanner scanner(compression::none, decoded, count, {});
  for (;;) {
    const auto parsed = reader.next();
    const auto scanned = scanner.next();
    EXPECT_EQ(parsed.has_value(), scanned.has_value());
    if (!parsed || !scanned) return false;
    EXPECT_EQ(parsed->has_value(), scanned->has_value());
    if (!*parsed) return true;
    EXPECT_EQ((*parsed)->offset_delta, (*scanned)->offset_delta);
    EXPECT_EQ((*parsed)->timestamp_delta, (*scanned)->timestamp_delta);
    EXPECT_EQ((*parsed)->header_count, (*scanned)->header_count);
    EXPECT_EQ((*parsed)->key.has_value(), (*scanned)->key_bytes >= 0);
    EXPECT_EQ((*parsed)->value.has_value(), (*scanned)->value_bytes >= 0);
  }
}

TEST(Record, SmallestIsSevenBytes) {
  const block smallest = from_hex("0c000000010100");  // length 6, null key, null value, no headers
  EXPECT_EQ(smallest.size(), min_record_bytes);
  EXPECT_TRUE(both_accept(smallest, 1));
  EXPECT_FALSE(both_accept(smallest, 2)) << "one record, not two";
  EXPECT_FALSE(both_accept(smallest, 0)) << "bytes after the last record";
}

TEST(Record, RefusesWrongShapes) {
  EXPECT_FALSE(both_accept(from_hex("0a0000000101"), 1)) << "no header count";
  EXPECT_FALSE(both_accept(from_hex("0e000000010100"), 1)) << "length beyond the block";
  EXPECT_FALSE(both_accept(from_hex("0e00000001010000"), 1)) << "length beyond the fields";
  EXPECT_FALSE(both_accept(from_hex("0c000000030100"), 1)) << "key length -2";
  EXPECT_FALSE(both_accept(from_hex("0c000000010300"), 1)) << "value length -2";
  EXPECT_FALSE(both_accept(from_hex("0c000000020100"), 1)) << "key runs into the value";
  EXPECT_FALSE(both_accept(from_hex("0c000000010101"), 1)) << "header count -1";
  EXPECT_FALSE(both_accept(from_hex("0c000000010102"), 1)) << "header count without headers";
  EXPECT_FALSE(both_accept(from_hex("10000000010102"
                                    "0101"),
                           1))
      << "header key null";
  EXPECT_TRUE(both_accept(from_hex("10000000010102"
                                   "0001"),
                          1))
      << "empty header key, null value";
  EXPECT_FALSE(both_accept(from_hex("10000000010102"
                                    "0003"),
                           1))
      << "header value length -2";
  EXPECT_FALSE(both_accept(from_hex("01"), 1)) << "length -1";
  EXPECT_FALSE(both_accept(from_hex("00"), 1)) << "length 0";
  EXPECT_FALSE(both_accept(from_hex("ffffffffff7f000000010100"), 1)) << "length varint of six bytes";
  EXPECT_FALSE(both_accept(from_hex("ffffffff0f000000010100"), 1)) << "length -2^31";
  EXPECT_FALSE(both_accept(from_hex("feffffff0f000000010100"), 1)) << "length 2^31-1";
  EXPECT_TRUE(both_accept(from_hex("8c80808000000000010100"), 1)) << "an over-long varint is one, as in Kafka";
}

TEST(Record, EveryCutIsRefused) {
  byte_buffer decoded;
  const std::array headers = {record_header_view{"name", as_byte_view("content")}};
  append_record(decoded, {0, as_byte_view("key"), as_byte_view("a value of some length"), headers}, 1234567, 0);
  append_record(decoded, {0, std::nullopt, as_byte_view("x"), {}}, -1234567, 1);
  EXPECT_TRUE(both_accept(decoded.view(), 2));
  for (std::size_t size = 0; size < decoded.size(); ++size) EXPECT_FALSE(both_accept(decoded.view().first(size), 2));
}

}  // namespace
}  // namespace braidmq::model

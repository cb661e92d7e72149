#include <gtest/gtest.h>

#include "golden_batches.hpp"
#include "helpers.hpp"
#include "model/record.hpp"
#include "model/record_search.hpp"

namespace braidmq::model {
namespace {

struct golden_case {
  const char* name;
  std::string_view hex;
  compression codec;
};

class GoldenBatchTest : public testing::TestWithParam<golden_case> {};

INSTANTIATE_TEST_SUITE_P(KafkaPython, GoldenBatchTest,
                         testing::Values(golden_case{"none", golden::none, compression::none},
                                         golden_case{"gzip", golden::gzip, compression::gzip},
                                         golden_case{"snappy", golden::snappy, compression::snappy},
                                         golden_case{"snappy_raw", golden::snappy_raw, compression::snappy},
                                         golden_case{"lz4", golden::lz4, compression::lz4},
                                         golden_case{"zstd", golden::zstd, compression::zstd},
                                         golden_case{"transactional", golden::transactional, compression::none}),
                         [](const auto& info) { return info.param.name; });

std::string braids() {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "braid ";
  return text;
}

std::string text_of(const std::optional<byte_view>& field) {
  return field ? std::string(as_string_view(*field)) : "(null)";
}

TEST_P(GoldenBatchTest, ValidatesWithItsRealMaximum) {
  const block batch = from_hex(GetParam().hex);
  const auto got = validate_produce_records(batch, limits_at_now());
  ASSERT_TRUE(got) << outcome(got);
  EXPECT_EQ(got->record_count, 3);
  EXPECT_EQ(got->max_timestamp_ms, 1700000000250);
  EXPECT_EQ(got->max_timestamp_offset_delta, 1);
  EXPECT_FALSE(got->max_timestamp_is_wrong);
  EXPECT_EQ(got->decoded_bytes, from_hex(golden::none).size() - batch_layout::header_bytes);
  EXPECT_EQ(got->header.codec(), GetParam().codec);
}

TEST_P(GoldenBatchTest, HoldsItsRecords) {
  const block batch = from_hex(GetParam().hex);
  batch_reader batches(batch);
  const auto view = batches.next();
  ASSERT_TRUE(view && *view);
  const auto decoded = decompress(GetParam().codec, (*view)->records(), 4096);
  ASSERT_TRUE(decoded) << decoded.error().to_string();

  record_reader reader(*decoded, (*view)->header.record_count);
  auto record = reader.next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*view)->header.base_timestamp_ms + (*record)->timestamp_delta, 1700000000000);
  EXPECT_EQ(text_of((*record)->key), "order-1");
  EXPECT_EQ(text_of((*record)->value), braids());
  auto headers = (*record)->headers();
  auto header = headers.next();
  ASSERT_TRUE(header);
  EXPECT_EQ(header->key, "trace");
  EXPECT_EQ(text_of(header->value), "\x01\x02");
  header = headers.next();
  ASSERT_TRUE(header);
  EXPECT_EQ(header->key, "empty");
  EXPECT_EQ(text_of(header->value), "");
  header = headers.next();
  ASSERT_TRUE(header);
  EXPECT_EQ(header->key, "null");
  EXPECT_FALSE(header->value);
  EXPECT_FALSE(headers.next());

  record = reader.next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->timestamp_delta, 250);
  EXPECT_EQ((*record)->offset_delta, 1);
  EXPECT_FALSE((*record)->key);
  EXPECT_EQ((*record)->header_count, 0);

  record = reader.next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->timestamp_delta, -100);
  EXPECT_EQ(text_of((*record)->key), "order-3");
  EXPECT_FALSE((*record)->value);

  record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_FALSE(*record) << "three records and no more";
}

TEST_P(GoldenBatchTest, IsSearchedByTime) {
  const block batch = from_hex(GetParam().hex);
  const auto found = find_max_timestamp(batch, {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, (timestamped_offset{offset(1), 1700000000250}));
}

// Our encoder makes the very bytes that kafka-python makes.
TEST(GoldenBuilder, WritesTheSameBytes) {
  const std::string value = braids();
  const std::string two("\x01\x02");
  const std::string three("\x03");
  const std::array first_headers = {record_header_view{"trace", as_byte_view(two)},
                                    record_header_view{"empty", byte_view{}}, record_header_view{"null", std::nullopt}};
  const std::array last_headers = {record_header_view{"trace", as_byte_view(three)}};
  for (const bool transactional : {false, true}) {
    batch_options options;
    if (transactional) {
      options.transactional = true;
      options.producer_id = producer_id(4711);
      options.producer_epoch = producer_epoch(3);
      options.base_sequence = sequence(100);
    }
    options.partition_leader_epoch = leader_epoch(0);  // what kafka-python leaves there
    batch_builder builder(options);
    builder.add({1700000000000, as_byte_view("order-1"), as_byte_view(value), first_headers})
        .add({1700000000250, std::nullopt, as_byte_view(value), {}})
        .add({1699999999900, as_byte_view("order-3"), std::nullopt, last_headers});
    const auto built = builder.build();
    ASSERT_TRUE(built);
    EXPECT_EQ(copy(*built), from_hex(transactional ? golden::transactional : golden::none));
    EXPECT_EQ(builder.record_count(), 0) << "ready for the next batch";
  }
}

TEST(GoldenHeader, HasAllFields) {
  const auto header = parse_batch_header(from_hex(golden::transactional));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->base_offset, offset(0));
  EXPECT_EQ(header->size_bytes(), from_hex(golden::transactional).size());
  EXPECT_EQ(header->partition_leader_epoch, leader_epoch(0));
  EXPECT_EQ(header->magic, 2);
  EXPECT_TRUE(header->is_transactional());
  EXPECT_FALSE(header->is_control());
  EXPECT_EQ(header->timestamps(), timestamp_type::create_time);
  EXPECT_EQ(header->last_offset_delta, 2);
  EXPECT_EQ(header->base_timestamp_ms, 1700000000000);
  EXPECT_EQ(header->max_timestamp_ms, 1700000000250);
  EXPECT_EQ(header->producer_id, producer_id(4711));
  EXPECT_EQ(header->producer_epoch, producer_epoch(3));
  EXPECT_EQ(header->base_sequence, sequence(100));
  EXPECT_EQ(header->last_sequence(), sequence(102));
  EXPECT_EQ(header->record_count, 3);
}

}  // namespace
}  // namespace braidmq::model

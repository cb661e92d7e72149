#include "model/record_search.hpp"

#include <gtest/gtest.h>

#include "helpers.hpp"

namespace braidmq::model {
namespace {

block timed_batch(std::initializer_list<std::int64_t> times, batch_options options = {}) {
  batch_builder builder(options);
  for (const std::int64_t time : times) builder.add("k", "v", time);
  return copy(builder.build().value().view());
}

std::optional<timestamped_offset> first(byte_view batch, std::int64_t time, offset from = offset(0)) {
  const auto found = find_first_at_or_after(batch, time, from, {});
  EXPECT_TRUE(found) << found.error().to_string();
  return found.value_or(std::nullopt);
}

TEST(RecordSearch, FindsTheFirstAtOrAfter) {
  for (const compression codec : all_codecs) {
    batch_options options;
    options.codec = codec;
    options.base_offset = offset(100);
    const block batch = timed_batch({50, 40, 70, 60, 70}, options);
    EXPECT_EQ(first(batch, 0), (timestamped_offset{offset(100), 50}));
    EXPECT_EQ(first(batch, 50), (timestamped_offset{offset(100), 50}));
    EXPECT_EQ(first(batch, 51), (timestamped_offset{offset(102), 70}));
    EXPECT_EQ(first(batch, 70), (timestamped_offset{offset(102), 70}));
    EXPECT_EQ(first(batch, 71), std::nullopt);
    EXPECT_EQ(first(batch, 0, offset(101)), (timestamped_offset{offset(101), 40})) << "the log starts inside";
    EXPECT_EQ(first(batch, 61, offset(103)), (timestamped_offset{offset(104), 70}));
    EXPECT_EQ(first(batch, 0, offset(105)), std::nullopt);
  }
}

TEST(RecordSearch, MaximumIsTheFirstOfEquals) {
  batch_options options;
  options.base_offset = offset(10);
  const auto found = find_max_timestamp(timed_batch({50, 40, 70, 60, 70}, options), {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, (timestamped_offset{offset(12), 70}));
}

TEST(RecordSearch, LogAppendTimeCountsForAllRecords) {
  block batch = timed_batch({50, 40, 70});
  restamp_log_append_time(batch, 1000);
  EXPECT_EQ(first(batch, 71), (timestamped_offset{offset(0), 1000}));
  EXPECT_EQ(first(batch, 1001), std::nullopt);
  const auto found = find_max_timestamp(batch, {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, (timestamped_offset{offset(0), 1000}));
}

// Compaction leaves gaps, and batches without records.
TEST(RecordSearch, GapsAndEmptyBatches) {
  byte_buffer decoded;
  append_record(decoded, {0, as_byte_view("k"), as_byte_view("v"), {}}, 5, 2);
  append_record(decoded, {0, as_byte_view("k"), as_byte_view("v"), {}}, 9, 7);
  block batch = batch_of(decoded.view(), 2);
  put(batch, batch_layout::last_offset_delta, std::int32_t{9});
  reseal(batch);
  EXPECT_EQ(first(batch, 0), (timestamped_offset{offset(2), test_now_ms + 5}));
  EXPECT_EQ(first(batch, test_now_ms + 6), (timestamped_offset{offset(7), test_now_ms + 9}));

  const block empty = batch_of({}, 0);
  EXPECT_EQ(first(empty, 0), std::nullopt);
  const auto none = find_max_timestamp(empty, {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(RecordSearch, ReportsDamageAndLimits) {
  batch_options options;
  options.codec = compression::zstd;
  block batch = timed_batch({1, 2, 3}, options);
  decode_limits tight;
  tight.max_output_bytes = 10;
  EXPECT_EQ(find_max_timestamp(batch, tight).error().code, errc::message_too_large);
  EXPECT_EQ(find_max_timestamp(byte_view(batch).first(batch.size() - 1), {}).error().code, errc::incomplete_batch);
  batch[batch_layout::header_bytes] ^= std::byte{0xff};
  EXPECT_EQ(find_max_timestamp(batch, {}).error().code, errc::invalid_record);
  put(batch, batch_layout::attributes, std::uint16_t{5});
  EXPECT_EQ(find_max_timestamp(batch, {}).error().code, errc::unsupported_compression);
}

}  // namespace
}  // namespace braidmq::model

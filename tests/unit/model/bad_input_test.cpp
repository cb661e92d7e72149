// What a client may not send, by the row of broker/docs/bad-input.md that it belongs to.
#include <limits>

#include <gtest/gtest.h>

#include "helpers.hpp"
#include "model/record.hpp"

namespace braidmq::model {
namespace {

block patched(std::size_t at, auto value) {
  block batch = sample_batch();
  put(batch, at, value);
  return reseal(batch);
}

batch_options idempotent() {
  batch_options options;
  options.producer_id = producer_id(9);
  options.producer_epoch = producer_epoch(0);
  options.base_sequence = sequence(0);
  return options;
}

// One record with the given deltas in a batch of its own.
block with_deltas(std::int64_t timestamp_delta, std::int32_t offset_delta) {
  byte_buffer decoded;
  append_record(decoded, {0, as_byte_view("k"), as_byte_view("v"), {}}, timestamp_delta, offset_delta);
  return batch_of(decoded.view(), 1);
}

TEST(BadInput, TheSampleItselfIsGood) {
  EXPECT_EQ(code_of(sample_batch()), std::error_code{});
  EXPECT_EQ(code_of(sample_batch(idempotent())), std::error_code{});
}

TEST(BadInput, ExactlyOneBatch) {
  EXPECT_EQ(code_of({}), errc::invalid_record);
  block two = sample_batch();
  const block one = two;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_EQ(code_of(two), errc::invalid_record);
  block tail = one;
  tail.push_back(std::byte{0});
  EXPECT_EQ(code_of(tail), errc::invalid_record);
  for (std::size_t size = 1; size < one.size(); ++size) {
    EXPECT_EQ(code_of(byte_view(one).first(size)), errc::corrupt_message) << size;
  }
}

TEST(BadInput, MagicMustBeTwo) {
  EXPECT_EQ(code_of(patched(batch_layout::magic, std::int8_t{0})), errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::magic, std::int8_t{1})), errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::magic, std::int8_t{3})), errc::corrupt_message);
  EXPECT_EQ(code_of(patched(batch_layout::magic, std::int8_t{-1})), errc::corrupt_message);
}

TEST(BadInput, F8_crc_wrong) {
  for (const compression codec : all_codecs) {
    batch_options options;
    options.codec = codec;
    block batch = sample_batch(options);
    batch.back() ^= std::byte{1};
    EXPECT_EQ(code_of(batch), errc::corrupt_message);
    batch.back() ^= std::byte{1};
    batch[batch_layout::crc] ^= std::byte{1};
    EXPECT_EQ(code_of(batch), errc::corrupt_message);
  }
}

TEST(BadInput, F9_record_count_wrong) {
  for (const std::int32_t count :
       {0, -1, 2, 4, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_EQ(code_of(patched(batch_layout::record_count, count)), errc::invalid_record) << count;
    // Also when the offset range says the same, so that only the records can tell.
    block batch = sample_batch();
    put(batch, batch_layout::record_count, count);
    put(batch, batch_layout::last_offset_delta, static_cast<std::int32_t>(std::int64_t{count} - 1));
    EXPECT_EQ(code_of(reseal(batch)), errc::invalid_record) << count;
  }
}

TEST(BadInput, F9_last_offset_delta_wrong) {
  for (const std::int32_t delta :
       {-1, 0, 1, 3, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_EQ(code_of(patched(batch_layout::last_offset_delta, delta)), errc::invalid_record) << delta;
  }
}

TEST(BadInput, F9_batch_length_wrong) {
  const auto right = static_cast<std::int32_t>(sample_batch().size() - batch_layout::length_overhead);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, right - 1)), errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, right + 1)), errc::corrupt_message);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, std::int32_t{48})), errc::corrupt_message);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, std::int32_t{0})), errc::corrupt_message);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, std::int32_t{-1})), errc::corrupt_message);
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, std::numeric_limits<std::int32_t>::min())),
            errc::corrupt_message);
  // Of bytes that are not there nobody knows that they would be too many: a client would cut its batch in two.
  EXPECT_EQ(code_of(patched(batch_layout::batch_length, std::numeric_limits<std::int32_t>::max())),
            errc::corrupt_message);
}

TEST(BadInput, F9_negative_key_and_value_size) {
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000030100"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000010300"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000ffffffff0f0100"), 1)), errc::invalid_record);
}

TEST(BadInput, F9_header_count_wrong) {
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000010101"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000010102"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("140000000101feffffff0f"), 1)), errc::invalid_record) << "2^31-1 headers";
}

TEST(BadInput, F9_record_length_wrong) {
  EXPECT_EQ(code_of(batch_of(from_hex("0c000000010100"), 1)), std::error_code{});
  EXPECT_EQ(code_of(batch_of(from_hex("0e000000010100"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("0a000000010100"), 1)), errc::invalid_record);
  EXPECT_EQ(code_of(batch_of(from_hex("0c00000001010000"), 1)), errc::invalid_record) << "a byte after the record";
}

TEST(BadInput, F9_offset_deltas_not_consecutive) {
  EXPECT_EQ(code_of(with_deltas(0, 0)), std::error_code{});
  EXPECT_EQ(code_of(with_deltas(0, 1)), errc::invalid_record);
  EXPECT_EQ(code_of(with_deltas(0, -1)), errc::invalid_record);
  byte_buffer decoded;
  const new_record record{0, as_byte_view("k"), as_byte_view("v"), {}};
  append_record(decoded, record, 0, 0);
  append_record(decoded, record, 0, 0);
  EXPECT_EQ(code_of(batch_of(decoded.view(), 2)), errc::invalid_record) << "the same delta twice";
}

TEST(BadInput, F9_base_offset_is_not_zero) {
  EXPECT_EQ(code_of(patched(batch_layout::base_offset, std::int64_t{1})), errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::partition_leader_epoch, std::int32_t{77})), std::error_code{})
      << "a client's epoch is overwritten, not checked";
}

TEST(BadInput, F10_control_batch) {
  EXPECT_EQ(code_of(build_end_marker(producer_id(1), producer_epoch(0), {control_type::commit, 0}, test_now_ms)),
            errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::attributes, batch_attributes::control)), errc::invalid_record);
  EXPECT_EQ(code_of(patched(batch_layout::attributes, batch_attributes::delete_horizon)), errc::invalid_record);
}

TEST(BadInput, F11_codec_ids_5_to_7) {
  for (std::uint16_t id = 5; id <= 7; ++id) {
    EXPECT_EQ(code_of(patched(batch_layout::attributes, id)), errc::unsupported_compression) << id;
  }
}

TEST(BadInput, F11_zstd_before_produce_7) {
  batch_options options;
  options.codec = compression::zstd;
  validation_limits limits = limits_at_now();
  EXPECT_EQ(code_of(sample_batch(options), limits), std::error_code{});
  limits.allow_zstd = false;
  EXPECT_EQ(code_of(sample_batch(options), limits), errc::unsupported_compression);
  options.codec = compression::lz4;
  EXPECT_EQ(code_of(sample_batch(options), limits), std::error_code{});
}

TEST(BadInput, F14_larger_than_max_message_bytes) {
  validation_limits limits = limits_at_now();
  const block batch = sample_batch();
  limits.max_batch_bytes = batch.size();
  EXPECT_EQ(code_of(batch, limits), std::error_code{});
  limits.max_batch_bytes = batch.size() - 1;
  EXPECT_EQ(code_of(batch, limits), errc::message_too_large);
  block damaged = batch;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(code_of(damaged, limits), errc::message_too_large) << "no CRC is computed over what is too large";
}

TEST(BadInput, WrongCompressedBytes) {
  for (const compression codec : all_codecs) {
    if (codec == compression::none) continue;
    EXPECT_EQ(code_of(batch_of(as_byte_view("this is no stream of any codec"), 1, codec)), errc::invalid_record);
    EXPECT_EQ(code_of(batch_of({}, 1, codec)), errc::invalid_record) << "no bytes for one record";
    // A sound stream, cut short or with something behind it.
    const bytes good = compress(codec, from_hex("0c000000010100")).value();
    EXPECT_EQ(code_of(batch_of(good, 1, codec)), std::error_code{});
    EXPECT_EQ(code_of(batch_of(good.view().first(good.size() - 1), 1, codec)), errc::invalid_record);
    block longer = copy(good);
    longer.push_back(std::byte{0x55});
    EXPECT_EQ(code_of(batch_of(longer, 1, codec)), errc::invalid_record);
  }
}

TEST(BadInput, ProducerFields) {
  batch_options options = idempotent();
  options.base_sequence = sequence(-1);
  EXPECT_EQ(code_of(sample_batch(options)), errc::invalid_record);
  options = idempotent();
  options.producer_epoch = producer_epoch(-1);
  EXPECT_EQ(code_of(sample_batch(options)), errc::invalid_record);
  options = {};
  options.producer_id = producer_id(-2);
  EXPECT_EQ(code_of(sample_batch(options)), errc::invalid_record);
  options = {};
  options.transactional = true;
  EXPECT_EQ(code_of(sample_batch(options)), errc::invalid_record) << "transactional without a producer";
  options = {};
  options.producer_epoch = producer_epoch(0);
  options.base_sequence = sequence(0);
  EXPECT_EQ(code_of(sample_batch(options)), std::error_code{}) << "without a producer id they mean nothing";
  options = idempotent();
  options.base_sequence = sequence(std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(code_of(sample_batch(options)), std::error_code{}) << "sequences wrap inside a batch";
}

TEST(BadInput, CompactedTopicsNeedKeys) {
  batch_builder builder;
  builder.add({test_now_ms, std::nullopt, as_byte_view("v"), {}});
  const bytes batch = builder.build().value();
  validation_limits limits = limits_at_now();
  EXPECT_EQ(code_of(batch, limits), std::error_code{});
  limits.require_keys = true;
  EXPECT_EQ(code_of(batch, limits), errc::invalid_record);
  EXPECT_EQ(code_of(sample_batch(), limits), std::error_code{});
}

TEST(BadInput, TimestampBounds) {
  validation_limits limits = limits_at_now();
  limits.timestamp_before_max_ms = 1000;
  limits.timestamp_after_max_ms = 500;
  EXPECT_EQ(code_of(with_deltas(-1000, 0), limits), std::error_code{});
  EXPECT_EQ(code_of(with_deltas(-1001, 0), limits), errc::invalid_timestamp);
  EXPECT_EQ(code_of(with_deltas(500, 0), limits), std::error_code{});
  EXPECT_EQ(code_of(with_deltas(501, 0), limits), errc::invalid_timestamp);
  EXPECT_EQ(code_of(with_deltas(-1 - test_now_ms, 0), limits), std::error_code{}) << "-1 is: no timestamp";
  limits.timestamps = timestamp_type::log_append_time;
  EXPECT_EQ(code_of(with_deltas(501, 0), limits), std::error_code{}) << "the broker's time will replace it";

  const validation_limits wide = limits_at_now();
  EXPECT_EQ(code_of(with_deltas(-test_now_ms, 0), wide), std::error_code{}) << "by default the past has no bound";
  EXPECT_EQ(code_of(with_deltas(-2 - test_now_ms, 0), wide), errc::invalid_timestamp) << "negative";
  EXPECT_EQ(code_of(with_deltas(3'600'001, 0), wide), errc::invalid_timestamp) << "one hour ahead";
  EXPECT_EQ(code_of(with_deltas(std::numeric_limits<std::int64_t>::max(), 0), wide), errc::invalid_timestamp);
  EXPECT_EQ(code_of(with_deltas(std::numeric_limits<std::int64_t>::min(), 0), wide), errc::invalid_timestamp);
}

TEST(BadInput, LogAppendTimeIsTheBrokersToSet) {
  EXPECT_EQ(code_of(patched(batch_layout::attributes, batch_attributes::log_append_time)), errc::invalid_timestamp);
}

TEST(BadInput, ErrorsNameTheRecord) {
  byte_buffer decoded;
  const new_record record{0, as_byte_view("k"), as_byte_view("v"), {}};
  append_record(decoded, record, 0, 0);
  append_record(decoded, record, 0, 5);
  const auto got = validate_produce_records(batch_of(decoded.view(), 2), limits_at_now());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "record 1: offset delta is 5");
}

}  // namespace
}  // namespace braidmq::model

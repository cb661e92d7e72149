#include "model/record_batch.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "helpers.hpp"
#include "model/record.hpp"

namespace braidmq::model {
namespace {

TEST(BatchHeader, SequenceWrapsToZero) {
  batch_header header;
  header.producer_id = producer_id(1);
  header.base_sequence = sequence(std::numeric_limits<std::int32_t>::max() - 1);
  header.last_offset_delta = 1;
  EXPECT_EQ(header.last_sequence(), sequence(std::numeric_limits<std::int32_t>::max()));
  header.last_offset_delta = 2;
  EXPECT_EQ(header.last_sequence(), sequence(0));
  header.last_offset_delta = 5;
  EXPECT_EQ(header.last_sequence(), sequence(3));
}

TEST(BatchHeader, TellsWhatIsNoHeader) {
  block batch = sample_batch();
  for (std::size_t size = 0; size < batch_layout::header_bytes; ++size) {
    const auto got = parse_batch_header(byte_view(batch).first(size));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::incomplete_batch) << size;
  }
  put(batch, batch_layout::batch_length, std::int32_t{48});
  EXPECT_EQ(parse_batch_header(batch).error().code, errc::corrupt_message);
  put(batch, batch_layout::batch_length, std::int32_t{-1});
  EXPECT_EQ(parse_batch_header(batch).error().code, errc::corrupt_message);
  put(batch, batch_layout::magic, std::int8_t{1});
  EXPECT_EQ(parse_batch_header(batch).error().code, errc::invalid_record);
  put(batch, batch_layout::magic, std::int8_t{3});
  EXPECT_EQ(parse_batch_header(batch).error().code, errc::corrupt_message);
}

TEST(BatchReader, WalksOverABlock) {
  block joined;
  for (std::int64_t base = 0; base < 9; base += 3) {
    batch_options options;
    options.base_offset = offset(base);
    const block batch = sample_batch(options);
    joined.insert(joined.end(), batch.begin(), batch.end());
  }
  batch_reader reader(joined);
  for (std::int64_t base = 0; base < 9; base += 3) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch && *batch);
    EXPECT_EQ((*batch)->header.base_offset, offset(base));
    EXPECT_EQ((*batch)->header.last_offset(), offset(base + 2));
    EXPECT_TRUE(batch_crc_matches((*batch)->data));
  }
  const auto end = reader.next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(reader.position(), joined.size());
}

TEST(BatchReader, StopsInFrontOfAnIncompleteTail) {
  const block one = sample_batch();
  block joined = one;
  joined.insert(joined.end(), one.begin(), one.end());
  for (std::size_t cut = 1; cut < one.size(); ++cut) {
    batch_reader reader(byte_view(joined).first(one.size() + cut));
    ASSERT_TRUE(reader.next());
    const auto tail = reader.next();
    ASSERT_FALSE(tail);
    EXPECT_EQ(tail.error().code, errc::incomplete_batch) << cut;
    EXPECT_EQ(reader.position(), one.size());
    EXPECT_EQ(reader.rest().size(), cut);
  }
}

TEST(Stamp, LeavesTheCrcValid) {
  block batch = sample_batch();
  const block before = batch;
  stamp_batch(batch, offset(1'234'567'890'123), leader_epoch(42));
  const auto header = check_whole_batch(batch);
  ASSERT_TRUE(header) << header.error().to_string();
  EXPECT_EQ(header->base_offset, offset(1'234'567'890'123));
  EXPECT_EQ(header->last_offset(), offset(1'234'567'890'125));
  EXPECT_EQ(header->partition_leader_epoch, leader_epoch(42));
  stamp_batch(batch, offset(0), no_epoch);
  EXPECT_EQ(batch, before) << "nothing else was touched";
}

TEST(Stamp, LogAppendTimeRenewsTheCrc) {
  block batch = sample_batch();
  restamp_log_append_time(batch, 99);
  const auto header = check_whole_batch(batch);
  ASSERT_TRUE(header) << header.error().to_string();
  EXPECT_EQ(header->timestamps(), timestamp_type::log_append_time);
  EXPECT_EQ(header->max_timestamp_ms, 99);
  EXPECT_EQ(header->base_timestamp_ms, test_now_ms) << "kept: the records' deltas belong to it";
}

TEST(Stamp, MaxTimestampCanBeCorrected) {
  block batch = sample_batch();
  put(batch, batch_layout::max_timestamp, std::int64_t{1});
  reseal(batch);
  const auto before = validate_produce_records(batch, limits_at_now());
  ASSERT_TRUE(before) << outcome(before);
  EXPECT_TRUE(before->max_timestamp_is_wrong);
  EXPECT_EQ(before->max_timestamp_ms, test_now_ms + 5);
  restamp_max_timestamp(batch, before->max_timestamp_ms);
  EXPECT_EQ(batch, sample_batch());
}

TEST(WholeBatch, MustHaveItsExactLength) {
  block batch = sample_batch();
  EXPECT_TRUE(check_whole_batch(batch));
  batch.push_back(std::byte{0});
  EXPECT_EQ(check_whole_batch(batch).error().code, errc::corrupt_message);
  batch.resize(batch.size() - 2);
  EXPECT_EQ(check_whole_batch(batch).error().code, errc::corrupt_message);
}

TEST(EndMarker, RoundTrips) {
  for (const auto type : {control_type::abort, control_type::commit}) {
    const bytes batch = build_end_marker(producer_id(7), producer_epoch(2), {type, 11}, test_now_ms);
    const auto header = check_whole_batch(batch);
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->is_control());
    EXPECT_TRUE(header->is_transactional());
    EXPECT_EQ(header->producer_id, producer_id(7));
    EXPECT_EQ(header->producer_epoch, producer_epoch(2));
    EXPECT_EQ(header->base_sequence, sequence(-1));
    EXPECT_EQ(header->record_count, 1);
    const auto marker = parse_end_marker(batch);
    ASSERT_TRUE(marker && *marker);
    EXPECT_EQ((*marker)->type, type);
    EXPECT_EQ((*marker)->coordinator_epoch, 11);
  }
  const auto ordinary = parse_end_marker(sample_batch());
  ASSERT_TRUE(ordinary);
  EXPECT_FALSE(*ordinary);
}

// Key 00 00 00 01 (version 0, commit), value 00 00 00 00 00 0b (version 0, epoch 11): KIP-98.
TEST(EndMarker, HasTheBytesOfTheProtocol) {
  const bytes batch = build_end_marker(producer_id(7), producer_epoch(2), {control_type::commit, 11}, test_now_ms);
  EXPECT_EQ(copy(batch.slice(batch_layout::header_bytes)), from_hex("20000000080000"
                                                                    "00010c"
                                                                    "00000000000b"
                                                                    "00"));
}

}  // namespace
}  // namespace braidmq::model

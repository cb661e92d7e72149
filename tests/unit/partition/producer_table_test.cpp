#include "partition/producer_table.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace braidmq::partition {
namespace {

batch_identity batch(std::int64_t producer, std::int16_t epoch, std::int32_t first, std::int32_t last) {
  return {model::producer_id(producer), model::producer_epoch(epoch), model::sequence(first), model::sequence(last)};
}

void append(producer_table& table, const batch_identity& b, std::int64_t offset) {
  ASSERT_EQ(table.check(b).verdict, sequence_verdict::append);
  if (b.is_idempotent()) table.record(b, model::offset(offset), 1000 + offset, 7);
}

TEST(ProducerTable, UnknownProducerMayStartAnywhere) {
  producer_table table;
  EXPECT_EQ(table.check(batch(7, 3, 12, 14)).verdict, sequence_verdict::append);
}

TEST(ProducerTable, P1_NextInOrderIsAppendedAndAGapIsNot) {
  producer_table table;
  append(table, batch(7, 0, 0, 9), 0);
  EXPECT_EQ(table.check(batch(7, 0, 11, 12)).verdict, sequence_verdict::out_of_order);
  EXPECT_EQ(table.check(batch(7, 0, 5, 12)).verdict, sequence_verdict::out_of_order) << "an overlap is no repetition";
  append(table, batch(7, 0, 10, 10), 10);
}

TEST(ProducerTable, P2_AnyOfTheLastFiveBatchesIsADuplicateWithItsOldOffset) {
  producer_table table;
  for (std::int32_t i = 0; i < 6; ++i) append(table, batch(7, 0, i * 2, i * 2 + 1), 100 + i);
  for (std::int32_t i = 1; i < 6; ++i) {
    const sequence_check again = table.check(batch(7, 0, i * 2, i * 2 + 1));
    EXPECT_EQ(again.verdict, sequence_verdict::duplicate);
    EXPECT_EQ(again.duplicate_base.value(), 100 + i);
    EXPECT_EQ(again.duplicate_timestamp_ms, 1100 + i);
  }
  EXPECT_EQ(table.check(batch(7, 0, 0, 1)).verdict, sequence_verdict::out_of_order) << "the sixth last is forgotten";
}

TEST(ProducerTable, TheIdlestAreThoseWhoseLastEntryIsOldest) {
  producer_table table;
  const auto at = [&table](std::int64_t producer, std::int32_t sequence, std::int64_t entry_ms) {
    table.record(batch(producer, 0, sequence, sequence), model::offset(0), 1, entry_ms);
  };
  at(5, 0, 10);
  at(9, 0, 20);
  at(3, 0, 20);
  at(1, 0, 30);
  at(5, 1, 40);
  using ids = std::vector<model::producer_id>;
  EXPECT_EQ(table.idlest(0), ids{});
  EXPECT_EQ(table.idlest(1), ids{model::producer_id(3)}) << "the lower one of two that are alike";
  EXPECT_EQ(table.idlest(3), (ids{model::producer_id(1), model::producer_id(3), model::producer_id(9)}));
  EXPECT_EQ(table.idlest(9).size(), 4U);
  table.forget(model::producer_id(5));
  EXPECT_EQ(table.check(batch(5, 0, 7, 7)).verdict, sequence_verdict::append) << "it is not known any more";
}

TEST(ProducerTable, P5_EpochsRiseFromZeroAndNeverFall) {
  producer_table table;
  append(table, batch(7, 1, 5, 5), 0);
  EXPECT_EQ(table.check(batch(7, 0, 6, 6)).verdict, sequence_verdict::stale_epoch);
  EXPECT_EQ(table.check(batch(7, 2, 6, 6)).verdict, sequence_verdict::out_of_order);
  append(table, batch(7, 2, 0, 0), 1);
  EXPECT_EQ(table.check(batch(7, 1, 5, 5)).verdict, sequence_verdict::stale_epoch) << "not even as a duplicate";
  EXPECT_EQ(table.check(batch(7, 2, 5, 5)).verdict, sequence_verdict::out_of_order)
      << "batches of an epoch are its own";
}

TEST(ProducerTable, SequencesWrapFromTheLargestToZero) {
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  producer_table table;
  append(table, batch(7, 0, largest - 1, largest), 0);
  append(table, batch(7, 0, 0, 3), 2);
  EXPECT_EQ(advance_sequence(model::sequence(largest - 1), 4).value(), 2);
  append(table, batch(8, 0, largest, 1), 6);
  append(table, batch(8, 0, 2, 2), 9);
}

TEST(ProducerTable, ProducersAndPlainBatchesDoNotDisturbEachOther) {
  producer_table table;
  append(table, batch(7, 0, 0, 0), 0);
  append(table, batch(-1, -1, -1, -1), 1);
  append(table, batch(-1, -1, -1, -1), 2);
  append(table, batch(8, 0, 0, 0), 3);
  append(table, batch(7, 0, 1, 1), 4);
  EXPECT_EQ(table.size(), 2U);
}

}  // namespace
}  // namespace braidmq::partition

#include "partition/partition.hpp"

#include <gtest/gtest.h>

#include "model/record_batch.hpp"
#include "support/batches.hpp"
#include "support/memory_partition_log.hpp"

namespace braidmq::partition {
namespace {

const auto id = sim::partition_of(1, 0);

incoming_batch batch_of(std::int64_t producer, std::int32_t sequence, std::int16_t epoch = 0) {
  const bytes data = sim::make_batch({"v"}, sim::idempotent(producer, epoch, sequence));
  const model::sequence at(sequence);
  return {data, {model::producer_id(producer), model::producer_epoch(epoch), at, at}, 1, 1000};
}

// The same rows with a log that has the same batches: its hash is made anew.
hash128 hash_of_rows(const partition& of) {
  auto log = std::make_unique<sim::memory_partition_log>();
  for (const storage::stored_batch& one : dynamic_cast<const sim::memory_partition_log&>(of.log()).batches()) {
    log->append(one);
  }
  log->trim(of.start_offset());
  return partition(id, of.rows(), {}, std::move(log)).hash();
}

TEST(Partition, ForgetsWhoHasBeenIdleAndNobodyElse) {
  partition one(id, 0, std::make_unique<sim::memory_partition_log>());
  one.append(batch_of(1, 0), 1, 100);
  one.append(batch_of(2, 0), 1, 200);
  one.append(batch_of(3, 0), 1, 300);
  one.append(batch_of(4, 0), 1, 100);
  one.append(batch_of(1, 1), 1, 201);
  const std::vector<model::producer_id> named{model::producer_id(1), model::producer_id(2), model::producer_id(3),
                                              model::producer_id(77)};
  EXPECT_EQ(one.forget(named, 200), 1U) << "1 has written since, 3 later, 77 was never here";
  EXPECT_EQ(one.producers().find(model::producer_id(2)), nullptr);
  EXPECT_NE(one.producers().find(model::producer_id(4)), nullptr) << "nobody has named it";
  EXPECT_EQ(one.hash(), hash_of_rows(one));
  EXPECT_EQ(one.append(batch_of(1, 1), 1, 400).verdict, sequence_verdict::duplicate);
  EXPECT_EQ(one.append(batch_of(2, 5), 1, 400).verdict, sequence_verdict::append) << "it may start anywhere";
  EXPECT_EQ(one.append(batch_of(2, 0), 1, 400).verdict, sequence_verdict::out_of_order);
  EXPECT_EQ(one.forget(named, 500), 3U);
  EXPECT_EQ(one.hash(), hash_of_rows(one));
}

TEST(Partition, TooManyProducersMakeTheIdlestGo) {
  partition_rows rows;
  for (std::size_t i = 0; i < producer_table::max_producers; ++i) {
    producer_state& state = rows.producers.edit(model::producer_id(static_cast<std::int64_t>(i)));
    state.count = 1;
    state.last_entry_ms = i < 10'000 ? 50 : 20;  // the idlest are not the first
  }
  partition one(id, rows, {}, std::make_unique<sim::memory_partition_log>());
  one.append(batch_of(5, 1), 1, 60);
  EXPECT_EQ(one.producers().size(), producer_table::max_producers) << "one that is known makes nobody go";
  EXPECT_EQ(one.append(batch_of(1'000'000, 0), 1, 60).verdict, sequence_verdict::append);
  EXPECT_EQ(one.producers().size(), producer_table::max_producers - producer_table::evicted_at_once + 1);
  EXPECT_NE(one.producers().find(model::producer_id(9'999)), nullptr);
  EXPECT_EQ(one.producers().find(model::producer_id(10'000)), nullptr);
  const auto last = static_cast<std::int64_t>(10'000 + producer_table::evicted_at_once - 1);
  EXPECT_EQ(one.producers().find(model::producer_id(last)), nullptr);
  EXPECT_NE(one.producers().find(model::producer_id(last + 1)), nullptr);
}

}  // namespace
}  // namespace braidmq::partition

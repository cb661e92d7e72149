#include "storage/memory_tail.hpp"

#include <gtest/gtest.h>

namespace braidmq::storage {
namespace {

memory_tail::batch batch(std::int64_t base, std::int64_t last, std::size_t size) {
  return {bytes::copy_of(std::string(size, static_cast<char>('a' + base))), model::offset(base), model::offset(last)};
}

std::string collect(const memory_tail& tail, std::int64_t from, std::int64_t limit, std::size_t max_bytes) {
  std::string firsts;
  for (const bytes& each : tail.collect(model::offset(from), model::offset(limit), max_bytes)) {
    firsts += as_string_view(each).front();
  }
  return firsts;
}

TEST(MemoryTail, PendingBatchesStayWhateverTheCacheHolds) {
  memory_tail tail(0);
  EXPECT_EQ(tail.front(), std::nullopt);
  tail.append(batch(0, 4, 100));
  tail.append(batch(5, 5, 50));
  tail.append(batch(6, 9, 10));
  EXPECT_EQ(tail.pending_bytes(), 160U);
  EXPECT_EQ(tail.front(), model::offset(0));
  tail.mark_written(2);
  EXPECT_EQ(tail.pending_bytes(), 10U);
  EXPECT_EQ(tail.pending_count(), 1U);
  EXPECT_EQ(tail.pending(0).base, model::offset(6));
  EXPECT_EQ(tail.front(), model::offset(6)) << "no cache, so what is written goes";
  tail.mark_written(1);
  EXPECT_EQ(tail.front(), std::nullopt);
  EXPECT_EQ(tail.pending_bytes(), 0U);
}

TEST(MemoryTail, WrittenBatchesStayUpToTheBoundTheOldestLeaveFirst) {
  memory_tail tail(100);
  for (std::int64_t base = 0; base < 5; ++base) tail.append(batch(base, base, 40));
  tail.mark_written(2);
  EXPECT_EQ(collect(tail, 0, 99, 1000), "abcde");
  tail.mark_written(1);
  EXPECT_EQ(tail.front(), model::offset(1)) << "120 bytes of written batches are too many";
  tail.mark_written(2);
  EXPECT_EQ(tail.front(), model::offset(3));
  EXPECT_EQ(tail.pending_bytes(), 0U);
}

TEST(MemoryTail, CollectsFromTheMiddleOfABatchUpToLimitAndBytes) {
  memory_tail tail(1000);
  tail.append(batch(0, 4, 100));
  tail.append(batch(5, 9, 100));
  tail.mark_written(1);
  tail.append(batch(10, 10, 100));
  EXPECT_EQ(collect(tail, 3, 99, 1000), "afk");
  EXPECT_EQ(collect(tail, 5, 99, 1000), "fk");
  EXPECT_EQ(collect(tail, 9, 10, 1000), "f") << "the limit is exclusive";
  EXPECT_EQ(collect(tail, 0, 6, 1000), "af") << "a batch that begins below the limit comes whole";
  EXPECT_EQ(collect(tail, 0, 99, 200), "af");
  EXPECT_EQ(collect(tail, 0, 99, 199), "a");
  EXPECT_EQ(collect(tail, 0, 99, 0), "a") << "the first one is the caller's to judge";
  EXPECT_EQ(collect(tail, 11, 99, 1000), "");
}

TEST(MemoryTail, AllLogsTogetherStayWithinTheSharedBudget) {
  const auto budget = std::make_shared<cache_budget>(cache_budget{.max_bytes = 3000});
  {
    memory_tail idle(1 << 20, budget);
    idle.append(batch(0, 0, 1000));
    idle.mark_written(1);
    memory_tail busy(1 << 20, budget);
    for (std::int64_t base = 0; base < 20; ++base) {
      busy.append(batch(base, base, 500));
      busy.mark_written(1);
      EXPECT_LE(budget->used_bytes, budget->max_bytes);
    }
    EXPECT_EQ(idle.front(), model::offset(0)) << "another log's writing takes nothing from it";
    EXPECT_NE(busy.front(), std::nullopt);
    busy.append(batch(20, 20, 5000));
    EXPECT_EQ(busy.pending_count(), 1U) << "what is not written yet is not cache";
  }
  EXPECT_EQ(budget->used_bytes, 0U) << "a log that goes gives everything back";
}

}  // namespace
}  // namespace braidmq::storage

#include <memory>

#include <gtest/gtest.h>

#include "base/bounded_queue.hpp"

namespace braidmq {
namespace {

TEST(BoundedQueue, RefusesBeyondEitherBoundAndKeepsTheItem) {
  bounded_queue<std::unique_ptr<int>> queue(2, 100);
  auto a = std::make_unique<int>(1);
  auto b = std::make_unique<int>(2);
  auto c = std::make_unique<int>(3);
  EXPECT_TRUE(queue.try_push(a, 60));
  EXPECT_FALSE(queue.try_push(b, 41));
  ASSERT_TRUE(b) << "a refused item stays with the caller";
  EXPECT_TRUE(queue.try_push(b, 40));
  EXPECT_FALSE(queue.try_push(c, 0)) << "two items at most";
  EXPECT_EQ(*queue.pop(), 1);
  EXPECT_EQ(queue.size_bytes(), 40U);
}

TEST(BoundedQueue, TakesAnOversizedItemWhenEmpty) {
  bounded_queue<int> queue(10, 100);
  int item = 7;
  EXPECT_TRUE(queue.try_push(item, 1000));
  EXPECT_FALSE(queue.fits(1));
}

}  // namespace
}  // namespace braidmq

#include "base/memory_budget.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.hpp"

namespace braidmq {
namespace {

TEST(memory_budget, gives_what_there_is_and_takes_it_back) {
  const auto budget = memory_budget::create(100);
  memory_lease first = budget->try_take(60);
  EXPECT_TRUE(first);
  EXPECT_FALSE(budget->try_take(41));
  memory_lease second = budget->try_take(40);
  EXPECT_TRUE(second);
  EXPECT_EQ(budget->used_bytes(), 100U);
  first = std::move(second);
  EXPECT_EQ(budget->used_bytes(), 40U);
  first.resize(10);
  EXPECT_EQ(budget->used_bytes(), 10U);
  first = {};
  EXPECT_EQ(budget->used_bytes(), 0U);
}

TEST(memory_budget, lets_one_that_is_larger_than_all_in_alone) {
  const auto budget = memory_budget::create(100);
  memory_lease large = budget->try_take(1000);
  EXPECT_TRUE(large);
  EXPECT_FALSE(budget->try_take(1));
  large = {};
  EXPECT_TRUE(budget->try_take(1));
}

TEST(memory_budget, serves_in_the_order_of_asking_and_lets_nobody_pass) {
  const auto budget = memory_budget::create(100);
  memory_lease held = budget->try_take(90);
  std::vector<int> order;
  std::vector<memory_lease> leases;
  std::vector<memory_wait> waits;
  const auto ask = [&](int who, std::size_t size) {
    waits.push_back(budget->take_when_free(size, [&, who](memory_lease lease) {
      order.push_back(who);
      leases.push_back(std::move(lease));
    }));
  };
  ask(1, 80);
  ask(2, 20);
  EXPECT_FALSE(budget->try_take(5)) << "would fit, but somebody waits";
  EXPECT_EQ(budget->waiting(), 2U);
  held.resize(30);
  EXPECT_EQ(order, std::vector<int>{});
  held.resize(20);
  EXPECT_EQ(order, std::vector<int>{1});
  held = {};
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(budget->waiting(), 0U);
  EXPECT_EQ(budget->used_bytes(), 100U);
}

TEST(memory_budget, small_ones_have_a_share_of_their_own_and_pass_large_ones) {
  const auto budget = memory_budget::create(400, 10);
  memory_lease large = budget->try_take(200);
  EXPECT_TRUE(large);
  EXPECT_FALSE(budget->try_take(101)) << "would leave less than a quarter for small ones";
  bool second_large = false;
  const memory_wait large_wait = budget->take_when_free(150, [&](memory_lease) { second_large = true; });
  std::vector<memory_lease> small;
  while (budget->used_bytes() < 400) {
    small.push_back(budget->try_take(10));
    ASSERT_TRUE(small.back()) << budget->used_bytes();
  }
  EXPECT_FALSE(budget->try_take(1));
  bool waited = false;
  const memory_wait small_wait = budget->take_when_free(10, [&](memory_lease) { waited = true; });
  small.pop_back();
  EXPECT_TRUE(waited) << "though a large one waits before it";
  EXPECT_FALSE(second_large);
  large = {};
  EXPECT_FALSE(second_large) << "200 are still used by small ones";
  small.clear();
  EXPECT_TRUE(second_large);
}

TEST(memory_budget, a_grant_that_nobody_wants_goes_to_the_next) {
  const auto budget = memory_budget::create(10);
  memory_lease held = budget->try_take(10);
  bool second = false;
  const memory_wait unwanted = budget->take_when_free(10, [](memory_lease) {});
  const memory_wait wanted = budget->take_when_free(10, [&second](memory_lease) { second = true; });
  held = {};
  EXPECT_TRUE(second);
  EXPECT_EQ(budget->used_bytes(), 0U);
}

TEST(memory_budget, one_that_goes_leaves_the_queue_and_lets_those_behind_it_pass) {
  const auto budget = memory_budget::create(100);
  memory_lease held = budget->try_take(50);
  bool first = false;
  bool second = false;
  memory_wait large = budget->take_when_free(80, [&](memory_lease) { first = true; });
  memory_wait behind = budget->take_when_free(20, [&](memory_lease) { second = true; });
  EXPECT_EQ(budget->waiting(), 2U);
  EXPECT_FALSE(second);
  large = {};
  EXPECT_TRUE(second) << "there is room, and nobody waits before it any more";
  EXPECT_EQ(budget->waiting(), 0U);
  EXPECT_FALSE(budget->has_waiters());
  behind = {};  // served long ago
  held = {};
  EXPECT_FALSE(first);
  EXPECT_EQ(budget->used_bytes(), 0U);
}

TEST(memory_budget, gives_up_to_what_is_left) {
  const auto budget = memory_budget::create(100);
  const memory_lease most = budget->take_up_to(70);
  const memory_lease rest = budget->take_up_to(70);
  const memory_lease none = budget->take_up_to(70);
  EXPECT_EQ(most.size_bytes(), 70U);
  EXPECT_EQ(rest.size_bytes(), 30U);
  EXPECT_EQ(none.size_bytes(), 0U);
  const memory_lease beyond = budget->take(50);
  EXPECT_EQ(budget->used_bytes(), 150U);
}

TEST(memory_budget, lives_with_the_last_slice_of_a_block) {
  const auto budget = memory_budget::create(100);
  bytes slice;
  {
    const bytes block = bytes::take(std::vector<std::byte>(50), budget->try_take(50));
    slice = block.slice(10, 1);
  }
  EXPECT_EQ(budget->used_bytes(), 50U);
  slice = {};
  EXPECT_EQ(budget->used_bytes(), 0U);
}

}  // namespace
}  // namespace braidmq

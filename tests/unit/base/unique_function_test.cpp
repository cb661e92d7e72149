#include "base/unique_function.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace braidmq {
namespace {

TEST(UniqueFunction, HoldsMoveOnlyCapturesAndDiesOnAnEmptyCall) {
  unique_function<int(int)> add = [base = std::make_unique<int>(40)](int x) { return *base + x; };
  unique_function<int(int)> moved = std::move(add);
  EXPECT_EQ(moved(2), 42);
  unique_function<void()> empty;
  EXPECT_FALSE(empty);
  EXPECT_DEATH(empty(), "call of an empty function");
}

// Counts how many of it are alive, and has any size.
template <std::size_t extra_bytes>
struct counted {
  explicit counted(int& alive) : alive_(&alive) { ++*alive_; }
  counted(counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  ~counted() { --*alive_; }
  int operator()() { return *alive_; }
  int* alive_;
  std::array<std::byte, extra_bytes> extra_{};
};

template <std::size_t extra_bytes>
void moves_and_drops_what_it_holds() {
  int alive = 0;
  {
    unique_function<int()> first = counted<extra_bytes>(alive);
    EXPECT_EQ(alive, 1);
    unique_function<int()> second = std::move(first);
    EXPECT_EQ(alive, 1);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): empty after a move is what it promises
    EXPECT_EQ(second(), 1);
    first = std::move(second);
    EXPECT_EQ(first(), 1);
    unique_function<int()>& itself = first;
    first = std::move(itself);
    EXPECT_EQ(first(), 1);
    second = counted<extra_bytes>(alive);
    first = std::move(second);  // what was there goes
    EXPECT_EQ(alive, 1);
    first = nullptr;
    EXPECT_EQ(alive, 0);
    std::vector<unique_function<int()>> many;
    for (int i = 0; i < 20; ++i) many.emplace_back(counted<extra_bytes>(alive));
    EXPECT_EQ(many.front()(), 20);
  }
  EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, MovesAndDropsWhatLiesInside) {
  moves_and_drops_what_it_holds<8>();
}

TEST(UniqueFunction, MovesAndDropsWhatLiesOutside) {
  moves_and_drops_what_it_holds<200>();
}

// A callable that holds its own function's owner: what is dropped may come back to it.
TEST(UniqueFunction, IsAlreadyNewWhenTheOldOneGoes) {
  struct slot {
    unique_function<int()> call;
  };
  auto owner = std::make_shared<slot>();
  struct looks_back {
    slot* of;
    bool* was_set;
    looks_back(slot* where, bool* seen) : of(where), was_set(seen) {}
    looks_back(looks_back&& other) noexcept : of(std::exchange(other.of, nullptr)), was_set(other.was_set) {}
    ~looks_back() {
      if (of != nullptr) *was_set = static_cast<bool>(of->call);
    }
    int operator()() const { return 1; }
  };
  bool was_set = false;
  owner->call = looks_back(owner.get(), &was_set);
  owner->call = [] { return 2; };
  EXPECT_TRUE(was_set);
  EXPECT_EQ(owner->call(), 2);
}

}  // namespace
}  // namespace braidmq

#include "base/paged_map.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/state_hash.hpp"

namespace braidmq {
namespace {

using small_map = paged_map<int, int, 4>;

std::map<int, int> content(const small_map& map) {
  std::map<int, int> all;
  int last = -1;
  map.for_each([&](int key, int row) {
    EXPECT_LT(last, key) << "in the order of the keys";
    last = key;
    all[key] = row;
  });
  EXPECT_EQ(all.size(), map.size());
  return all;
}

TEST(PagedMap, DoesWhatAMapDoes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 chance(seed);
    small_map map;
    std::map<int, int> model;
    for (int step = 0; step < 400; ++step) {
      const int key = static_cast<int>(chance() % 60);
      switch (chance() % 3) {
        case 0:
          EXPECT_EQ(map.erase(key), model.erase(key) == 1);
          break;
        case 1:
          map.edit(key) += step;
          model[key] += step;
          break;
        default: {
          const int* row = map.find(key);
          ASSERT_EQ(row != nullptr, model.contains(key));
          if (row != nullptr) EXPECT_EQ(*row, model.at(key));
        }
      }
    }
    EXPECT_EQ(content(map), model) << "seed " << seed;
  }
}

TEST(PagedMap, ACopyStaysAsItWasWhileTheOriginalChanges) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 chance(seed);
    small_map map;
    std::vector<std::pair<small_map, std::map<int, int>>> copies;
    for (int step = 0; step < 300; ++step) {
      const int key = static_cast<int>(chance() % 60);
      if (chance() % 4 == 0)
        map.erase(key);
      else
        map.edit(key) = step;
      if (chance() % 30 == 0) copies.emplace_back(map, content(map));
      if (copies.size() > 3) copies.erase(copies.begin());
    }
    for (const auto& [copy, was] : copies) EXPECT_EQ(content(copy), was) << "seed " << seed;
  }
}

TEST(PagedMap, RisingKeysFillTheirPages) {
  paged_map<int, int, 8> map;
  for (int key = 0; key < 800; ++key) map.edit(key) = key;
  EXPECT_LE(map.pages(), 800 / 7 + 1);
}

// Golden values: they stand in checkpoints.
TEST(StateHash, IsXxh3OfTheBytesAndASumKnowsNoOrder) {
  EXPECT_EQ(hash_of({}).to_string(), "99aa06d3014798d86001c324468d497f");
  hash128 one = hash_of(as_byte_view("a"));
  one += hash_of(as_byte_view("b"));
  hash128 other = hash_of(as_byte_view("b"));
  other += hash_of(as_byte_view("a"));
  EXPECT_EQ(one, other);
  other -= hash_of(as_byte_view("a"));
  EXPECT_EQ(other, hash_of(as_byte_view("b")));
  EXPECT_NE(hash_chain(hash_of(as_byte_view("a")), as_byte_view("b")),
            hash_chain(hash_of(as_byte_view("b")), as_byte_view("a")));
}

}  // namespace
}  // namespace braidmq

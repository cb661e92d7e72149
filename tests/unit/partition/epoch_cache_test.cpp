#include "partition/epoch_cache.hpp"

#include <gtest/gtest.h>

namespace braidmq::partition {
namespace {

TEST(EpochCache, EndOfAnEpochIsTheStartOfTheNext) {
  epoch_cache cache;
  cache.record(model::leader_epoch(2), model::offset(0));
  cache.record(model::leader_epoch(2), model::offset(5));
  cache.record(model::leader_epoch(5), model::offset(10));
  const model::offset end(17);
  EXPECT_FALSE(cache.end_of(model::leader_epoch(1), end));
  EXPECT_EQ(cache.end_of(model::leader_epoch(2), end)->end.value(), 10);
  EXPECT_EQ(cache.end_of(model::leader_epoch(4), end)->epoch.value(), 2);
  EXPECT_EQ(cache.end_of(model::leader_epoch(4), end)->end.value(), 10);
  EXPECT_EQ(cache.end_of(model::leader_epoch(5), end)->end.value(), 17);
  EXPECT_EQ(cache.latest()->value(), 5);
}

TEST(EpochCache, L3_AFallingEpochIsABrokenInvariant) {
  epoch_cache cache;
  cache.record(model::leader_epoch(3), model::offset(0));
  EXPECT_DEATH(cache.record(model::leader_epoch(2), model::offset(1)), "leader epoch falls");
}

}  // namespace
}  // namespace braidmq::partition

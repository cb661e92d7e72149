#include <vector>

#include <gtest/gtest.h>

#include "storage/epoch_runs.hpp"
#include "storage/offset_index.hpp"
#include "storage/time_index.hpp"
#include "support/sim_random.hpp"

namespace braidmq::storage {
namespace {

model::offset at(std::int64_t value) {
  return model::offset(value);
}

std::string hex(byte_view data) {
  std::string text;
  for (const std::byte each : data) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

TEST(OffsetIndex, FloorAndCeiling) {
  offset_index index(at(100));
  EXPECT_EQ(index.floor(at(100)), (index_position{at(100), 0}));
  EXPECT_EQ(index.ceiling(at(100)), std::nullopt);
  index.append(at(110), 4096);
  index.append(at(150), 9000);
  EXPECT_EQ(index.floor(at(109)), (index_position{at(100), 0})) << "the segment itself is an entry that needs no bytes";
  EXPECT_EQ(index.floor(at(110)), (index_position{at(110), 4096}));
  EXPECT_EQ(index.floor(at(149)), (index_position{at(110), 4096}));
  EXPECT_EQ(index.floor(at(100000)), (index_position{at(150), 9000}));
  EXPECT_EQ(index.ceiling(at(100)), (index_position{at(110), 4096}));
  EXPECT_EQ(index.ceiling(at(110)), (index_position{at(110), 4096}));
  EXPECT_EQ(index.ceiling(at(111)), (index_position{at(150), 9000}));
  EXPECT_EQ(index.ceiling(at(std::numeric_limits<std::int64_t>::max())), std::nullopt);
  EXPECT_EQ(index.count_below(at(110)), 0U);
  EXPECT_EQ(index.count_below(at(111)), 1U);
}

TEST(OffsetIndex, EntriesOnDiskAreRelativeOffsetAndPosition) {
  offset_index index(at(100));
  index.append(at(110), 4096);
  index.append(at(100 + 0xffffffffLL), 0x7fffffff);
  EXPECT_EQ(hex(index.encode(0, 2)),
            "0000000a00001000"
            "ffffffff7fffffff");
  EXPECT_EQ(hex(index.encode(1, 2)), "ffffffff7fffffff");
  EXPECT_TRUE(index.encode(2, 2).empty());
}

TEST(OffsetIndexDeathTest, RefusesDisorder) {
  offset_index index(at(100));
  index.append(at(110), 4096);
  EXPECT_DEATH(index.append(at(110), 5000), "out of order");
  EXPECT_DEATH(index.append(at(120), 4096), "out of order");
  EXPECT_DEATH(index.append(at(100 + 0x100000000LL), 5000), "offset 4294967396 from 100");
}

TEST(TimeIndex, ASearchStartsWhereNothingBeforeCanMatch) {
  time_index index(at(100));
  EXPECT_EQ(index.search_start(5), at(100));
  index.append(10, at(110));  // highest below 110 is 10
  index.append(10, at(120));
  index.append(30, at(130));
  EXPECT_EQ(index.search_start(9), at(100));
  EXPECT_EQ(index.search_start(10), at(100)) << "a record of 10 may be below 110";
  EXPECT_EQ(index.search_start(11), at(120)) << "the last of the entries that are too old";
  EXPECT_EQ(index.search_start(30), at(120));
  EXPECT_EQ(index.search_start(31), at(130));
  EXPECT_EQ(index.floor(at(109)), std::nullopt);
  EXPECT_EQ(index.floor(at(110)), (time_entry{10, at(110)}));
  EXPECT_EQ(index.floor(at(129)), (time_entry{10, at(120)}));
  EXPECT_EQ(index.floor(at(1000)), (time_entry{30, at(130)}));
  EXPECT_EQ(hex(index.encode(1, 3)),
            "000000000000000a00000014"
            "000000000000001e0000001e");
}

TEST(TimeIndexDeathTest, RefusesTimesThatFall) {
  time_index index(at(100));
  index.append(10, at(110));
  EXPECT_DEATH(index.append(9, at(120)), "out of order");
  EXPECT_DEATH(index.append(11, at(110)), "out of order");
}

TEST(EpochRuns, EqualsTheEpochOfEachBatch) {
  sim::rng chance(1);
  epoch_runs runs;
  std::vector<model::leader_epoch> epochs;
  model::leader_epoch epoch(3);
  for (std::int64_t offset = 0; offset < 300; ++offset) {
    if (chance.chance(0.1)) ++epoch;
    epochs.push_back(epoch);
    runs.append(at(offset), epoch);
  }
  const epoch_runs part = runs.from(at(137));
  for (std::int64_t offset = 0; offset < 300; ++offset) {
    EXPECT_EQ(runs.at(at(offset)), epochs[static_cast<std::size_t>(offset)]);
    if (offset >= 137) EXPECT_EQ(part.at(at(offset)), epochs[static_cast<std::size_t>(offset)]);
  }
  EXPECT_DEATH((void)runs.at(at(-1)), "no batch at or below");
}

}  // namespace
}  // namespace braidmq::storage

#include "braid/entry.hpp"

#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "support/batches.hpp"

namespace braidmq::braid {
namespace {

TEST(Entry, ComesBackAndSharesItsBatches) {
  entry_command command;
  command.leader_time_ms = 1234;
  command.creations.push_back({sim::partition_of(1, 2), 5, 77});
  command.units.resize(2);
  command.units[0].slices.push_back({sim::partition_of(1, 0), bytes::copy_of("one")});
  command.units[0].slices.push_back({sim::partition_of(2, 9), bytes::copy_of("two")});
  command.units[0].atomic_slices = 2;
  const bytes payload = encode(command);
  const auto back = decode(payload);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->leader_time_ms, 1234);
  ASSERT_EQ(back->creations.size(), 1U);
  EXPECT_EQ(back->creations[0].target, sim::partition_of(1, 2));
  EXPECT_EQ(back->creations[0].epoch_base, 5);
  EXPECT_EQ(back->creations[0].metadata_index, 77U);
  ASSERT_EQ(back->units.size(), 2U);
  ASSERT_EQ(back->units[0].slices.size(), 2U);
  EXPECT_EQ(back->units[0].atomic_slices, 2U);
  EXPECT_EQ(back->units[1].atomic_slices, 0U);
  EXPECT_EQ(back->units[0].slices[1].target, sim::partition_of(2, 9));
  const bytes& batch = back->units[0].slices[1].batch;
  EXPECT_EQ(as_string_view(batch), "two");
  EXPECT_GE(batch.data(), payload.data());
  EXPECT_LE(batch.data() + batch.size(), payload.data() + payload.size());
}

TEST(Entry, ChangesOfTopicsComeBack) {
  entry_command command;
  command.configs.push_back({sim::partition_of(1, 0).topic, 7, {{"a", "1"}, {"b", ""}}});
  command.configs.push_back({sim::partition_of(2, 0).topic, 8, {}});
  command.deletions.push_back({sim::partition_of(3, 0).topic, 9});
  const auto back = decode(encode(command));
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->configs.size(), 2U);
  EXPECT_EQ(back->configs[0].topic, command.configs[0].topic);
  EXPECT_EQ(back->configs[0].metadata_index, 7U);
  EXPECT_EQ(back->configs[0].values, command.configs[0].values);
  ASSERT_EQ(back->deletions.size(), 1U);
  EXPECT_EQ(back->deletions[0].topic, command.deletions[0].topic);
  EXPECT_EQ(back->deletions[0].metadata_index, 9U);
}

TEST(Entry, LevelsAndExpiriesComeBack) {
  entry_command command;
  command.apply_level = 3;
  command.expiries.push_back({sim::partition_of(1, 2), -5, {model::producer_id(7), model::producer_id(1LL << 40)}});
  command.expiries.push_back({sim::partition_of(2, 0), 9, {}});
  const auto back = decode(encode(command));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->apply_level, 3);
  ASSERT_EQ(back->expiries.size(), 2U);
  EXPECT_EQ(back->expiries[0].target, sim::partition_of(1, 2));
  EXPECT_EQ(back->expiries[0].idle_since_ms, -5);
  EXPECT_EQ(back->expiries[0].producers, command.expiries[0].producers);
  EXPECT_EQ(back->expiries[1].idle_since_ms, 9);
  command.apply_level = -1;
  EXPECT_FALSE(decode(encode(command)));
}

TEST(Entry, TheSizeOfAnExpiryBoundsItsBytes) {
  entry_command command;
  const std::size_t before = encode(command).size();
  std::size_t bound = 0;
  for (const std::size_t producers : {0U, 1U, 200U, 20'000U}) {
    command.expiries.push_back({sim::partition_of(1, 0), 1, std::vector<model::producer_id>(producers)});
    bound += expiry_size(command.expiries.back());
  }
  EXPECT_LE(encode(command).size(), before + bound);
}

// An entry as version 0 wrote it: one creation, one unit of one slice.
TEST(Entry, OldBytesStillDecode) {
  byte_buffer old;
  const auto put = [&old](std::initializer_list<int> octets) {
    for (const int octet : octets) old.append_be(static_cast<std::uint8_t>(octet));
  };
  put({0, 0, 0, 0, 0, 0, 0, 0, 4, 0xd2});                       // version, leader_time_ms
  put({2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});     // one creation: topic id
  put({0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 77, 0});    // partition, epoch_base, metadata_index
  put({2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // one unit, one slice: topic id
  put({0, 0, 0, 9, 4, 'o', 'n', 'e', 0, 0, 0});                 // partition, batch, ends
  const auto read = decode(old.freeze());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->leader_time_ms, 1234);
  ASSERT_EQ(read->creations.size(), 1U);
  EXPECT_EQ(read->creations[0].target, sim::partition_of(1, 2));
  EXPECT_EQ(read->creations[0].metadata_index, 77U);
  EXPECT_TRUE(read->configs.empty());
  EXPECT_TRUE(read->deletions.empty());
  ASSERT_EQ(read->units.size(), 1U);
  EXPECT_EQ(read->units[0].slices.at(0).target, sim::partition_of(3, 9));
  EXPECT_EQ(as_string_view(read->units[0].slices[0].batch), "one");
}

// And as version 1 did: no configs, no deletions, one unit.
TEST(Entry, UnitsOfVersion1AreOrdinary) {
  byte_buffer old;
  const auto put = [&old](std::initializer_list<int> octets) {
    for (const int octet : octets) old.append_be(static_cast<std::uint8_t>(octet));
  };
  put({0, 1, 0, 0, 0, 0, 0, 0, 4, 0xd2, 1, 1, 1});              // version, leader_time_ms, three empty lists
  put({2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // one unit, one slice: topic id
  put({0, 0, 0, 9, 4, 'o', 'n', 'e', 0, 0, 0});                 // partition, batch, ends
  const auto read = decode(old.freeze());
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->units.size(), 1U);
  EXPECT_EQ(read->units[0].atomic_slices, 0U);
  EXPECT_EQ(as_string_view(read->units[0].slices.at(0).batch), "one");
}

TEST(Entry, MoreAtomicSlicesThanSlicesAreRefused) {
  for (const std::size_t wrong : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    entry_command command;
    command.units.push_back({{{sim::partition_of(1, 0), bytes::copy_of("one")}}, wrong});
    EXPECT_FALSE(decode(encode(command))) << wrong;
  }
}

TEST(Entry, TheSizeOfAConfigBoundsItsBytes) {
  entry_command command;
  const std::size_t before = encode(command).size();
  topic_config config{sim::partition_of(1, 0).topic, 7, {{"a", std::string(300, 'x')}, {std::string(200, 'n'), ""}}};
  command.configs.push_back(config);
  EXPECT_LE(encode(command).size(), before + config_size(config));
}

TEST(Entry, OverheadBoundsWhatASliceAdds) {
  entry_command command;
  command.units.emplace_back();
  const std::size_t before = encode(command).size();
  const bytes batch = bytes::copy_of(std::string(1U << 20U, 'x'));
  for (int i = 0; i < 10; ++i) command.units[0].slices.push_back({sim::partition_of(1, i), batch});
  EXPECT_LE(encode(command).size(), before + 10 * (batch.size() + slice_overhead_bytes));
}

TEST(Entry, IsWrittenInTheVersionOfTheLevel) {
  entry_command command;
  command.leader_time_ms = 5;
  command.log_starts.push_back({sim::partition_of(1, 0), model::offset(3)});
  const auto version_of = [](const bytes& payload) { return load_be<std::int16_t>(payload.data()); };
  std::int16_t before = 0;
  for (std::int16_t level = 0; level <= newest_apply_level; ++level) {
    const bytes payload = encode(command, level);
    EXPECT_EQ(version_of(payload), entry_version(level)) << level;
    EXPECT_GE(version_of(payload), before) << level;
    before = version_of(payload);
    EXPECT_EQ(decode(payload).value().log_starts.size(), 1U) << level;
  }
  EXPECT_EQ(version_of(encode(command)), before);
  EXPECT_EQ(entry_version(newest_apply_level + 1), before) << "a later one is not known, nor is its version";
}

TEST(Entry, CanBeWrittenInEachVersionThatHasWhatItSays) {
  entry_command command;
  command.leader_time_ms = 5;
  command.creations.push_back({sim::partition_of(1, 2), 5, 77});
  command.units.resize(1);
  command.units[0].slices.push_back({sim::partition_of(1, 0), bytes::copy_of("one")});
  for (std::int16_t version = 0; version <= entry_version(newest_apply_level); ++version) {
    if (version == 1) command.deletions.push_back({sim::partition_of(3, 0).topic, 9});
    if (version == 2) command.units[0].atomic_slices = 1;
    const bytes payload = encode_in_version(command, version);
    EXPECT_EQ(load_be<std::int16_t>(payload.data()), version);
    const auto back = decode(payload);
    ASSERT_TRUE(back) << version << ": " << back.error().to_string();
    EXPECT_EQ(back->creations.size(), 1U);
    EXPECT_EQ(back->deletions.size(), version < 1 ? 0U : 1U);
    EXPECT_EQ(back->units.at(0).atomic_slices, version < 2 ? 0U : 1U);
    EXPECT_EQ(as_string_view(back->units[0].slices.at(0).batch), "one");
  }
}

TEST(Entry, RefusesWhatIsNone) {
  EXPECT_FALSE(decode({}));
  EXPECT_FALSE(decode(bytes::copy_of("x")));
  byte_buffer later;
  later.append_be<std::int16_t>(99);
  EXPECT_FALSE(decode(later.freeze())) << "a version that is not known";
  const bytes whole = encode({});
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_FALSE(decode(whole.slice(0, length))) << length;
}

}  // namespace
}  // namespace braidmq::braid

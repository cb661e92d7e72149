#include "wal/format.hpp"

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "fixture.hpp"

namespace braidmq::wal::format {
namespace {

using test::group_a;
using test::group_b;

uuid incarnation(std::uint8_t fill) {
  uuid id;
  id.octets.fill(fill);
  return id;
}

bytes sealed(const std::vector<append_item>& items, group_header& header, std::uint32_t seed) {
  byte_buffer buffer;
  begin_group(buffer);
  for (const append_item& item : items) {
    const std::size_t before = buffer.size();
    encode_item(buffer, item);
    EXPECT_EQ(buffer.size() - before, item_size(item));
  }
  seal_group(buffer, header, seed);
  return buffer.freeze();
}

TEST(WalFormat, NamesAreRecognisedExactly) {
  EXPECT_EQ(file_name(42), "00000000000000000042.wal");
  EXPECT_EQ(parse_file_name("00000000000000000042.wal"), 42U);
  for (const char* other :
       {"00000000000000000000.wal", "42.wal", "0000000000000000004x.wal", "00000000000000000042.log",
        "00000000000000000042.wal.tmp", "99999999999999999999.wal", "-0000000000000000042.wal", ""}) {
    EXPECT_EQ(parse_file_name(other), std::nullopt) << other;
  }
}

// The first bytes of the format, by hand: a change here is a change of the version.
TEST(WalFormat, HeaderBlockIsAsDocumented) {
  byte_buffer buffer;
  append_file_header(buffer, {incarnation(0x11), 2, 77});
  ASSERT_EQ(buffer.size(), 4096U);
  EXPECT_EQ(as_string_view(buffer.view().first(8)), "BRAIDWAL");
  const std::vector<int> expected = {0, 0, 0, 2, 0, 0, 0x10, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::to_integer<int>(buffer.view()[8 + i]), expected[i]);
  EXPECT_EQ(std::to_integer<int>(buffer.view()[31]), 0x11);
  EXPECT_EQ(std::to_integer<int>(buffer.view()[39]), 2);
  EXPECT_EQ(std::to_integer<int>(buffer.view()[47]), 77);
  const auto parsed = parse_file_header(buffer.view());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->incarnation, incarnation(0x11));
  EXPECT_EQ(parsed->file_sequence, 2U);
  EXPECT_EQ(parsed->first_group, 77U);
}

TEST(WalFormat, EveryFlippedBitOfAHeaderIsRefused) {
  byte_buffer buffer;
  append_file_header(buffer, {incarnation(0x11), 2, 77});
  for (std::size_t bit = 0; bit < buffer.size() * 8; ++bit) {
    buffer.mutable_view()[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    ASSERT_FALSE(parse_file_header(buffer.view())) << bit;
    buffer.mutable_view()[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  EXPECT_TRUE(parse_file_header(buffer.view()));
}

TEST(WalFormat, GroupWriteIsWholeBlocksAndComesBack) {
  const std::vector<append_item> items = {
      test::item(group_a, {test::make_entry(3, 10, "first"), test::make_entry(4, 11, "")}, test::hard_state(4, 9)),
      test::item(group_b, {}, test::hard_state(1)),
      test::item(group_b, {{raft::term(1), raft::index(1), raft::entry_kind::noop, {}}}),
      test::item(group_a, {test::make_entry(4, 12, std::string(5000, 'x'))}),
  };
  group_header header{.kind = group_kind::items, .sequence = 5, .durable = 4, .position = 8192, .previous_crc = 0xfeed};
  const bytes group = sealed(items, header, 123);
  EXPECT_EQ(group.size(), 8192U);
  const auto parsed = parse_group_header(group.slice(0, 4096), 8192, 123);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(group_size(parsed->payload_bytes), 8192U);
  EXPECT_TRUE(is_sound(group, *parsed, 123));
  EXPECT_FALSE(is_sound(group.slice(0, 4096), *parsed, 123)) << "less than there has to be";
  EXPECT_EQ(parsed->sequence, 5U);
  EXPECT_EQ(parsed->durable, 4U);
  EXPECT_EQ(parsed->previous_crc, 0xfeedU);
  const auto back = parse_items(group, *parsed);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ((*back)[i].group, items[i].group);
    EXPECT_EQ((*back)[i].state, items[i].state);
    EXPECT_EQ((*back)[i].entries, items[i].entries);
  }
}

TEST(WalFormat, AGroupIsOfItsFileAndPlaceOnly) {
  group_header header{.sequence = 5, .position = 8192};
  const bytes group = sealed({test::item(group_a, {test::make_entry(1, 1, "x")})}, header, 123);
  EXPECT_TRUE(parse_group_header(group, 8192, 123));
  EXPECT_FALSE(parse_group_header(group, 8192, 124)) << "another incarnation";
  EXPECT_FALSE(parse_group_header(group, 12288, 123)) << "a misdirected write";
  EXPECT_NE(crc_seed(incarnation(1)), crc_seed(incarnation(2)));
}

TEST(WalFormat, EveryFlippedBitOfAGroupIsSeenPaddingIncluded) {
  group_header header{.sequence = 5, .durable = 4, .position = 4096};
  const bytes group = sealed({test::item(group_a, {test::make_entry(1, 1, "payload")})}, header, 9);
  std::vector<std::byte> block(group.view().begin(), group.view().end());
  for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
    block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto flipped = parse_group_header(block, 4096, 9);
    ASSERT_FALSE(flipped && is_sound(block, *flipped, 9)) << bit;
    block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

// Counts and lengths are bounded by the bytes that are there, whatever they say. The CRC is made to fit, as it would be
// after a bug of our own.
TEST(WalFormat, ItemsOfAnyBytesAreRefusedOrBounded) {
  sim::rng random(4);
  const std::vector<append_item> items = {
      test::item(group_a, {test::make_entry(1, 1, "one"), test::make_entry(1, 2, "two")}, test::hard_state(1)),
      test::item(group_b, {test::make_entry(1, 1, "three")})};
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    byte_buffer buffer;
    begin_group(buffer);
    for (const append_item& item : items) encode_item(buffer, item);
    buffer.resize(buffer.size() - random.below(10));
    for (std::uint64_t changes = random.below(3); changes > 0; --changes) {
      const auto at = group_header_bytes + random.below(buffer.size() - group_header_bytes);
      buffer.mutable_view()[at] = static_cast<std::byte>(random());
    }
    group_header header;
    seal_group(buffer, header, 1);
    const auto parsed = parse_items(buffer.freeze(), header);
    if (!parsed) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

TEST(WalFormat, StatesComeBackAndAreBounded) {
  group_states states;
  states[group_a] = {test::hard_state(4, 9), raft::index(11), raft::term(4)};
  states[group_b] = {test::hard_state(1), raft::index(0), raft::term(0)};
  byte_buffer buffer;
  append_states(buffer, states);
  EXPECT_EQ(parse_states(buffer.view()).value(), states);
  EXPECT_FALSE(parse_states(buffer.view().first(buffer.size() - 1)));
  buffer.put_be(0, std::uint32_t{3});
  EXPECT_FALSE(parse_states(buffer.view()));
  buffer.put_be(0, std::uint32_t{0xffffffff});
  EXPECT_FALSE(parse_states(buffer.view()));
  EXPECT_FALSE(parse_states({}));
}

TEST(WalFormat, StatesFollowItems) {
  group_state state;
  EXPECT_FALSE(advance(state, test::item(group_a, {test::make_entry(1, 2, "gap")})));
  EXPECT_TRUE(advance(state, test::item(group_a, {test::make_entry(1, 1, ""), test::make_entry(2, 2, "")})));
  EXPECT_EQ(state.last_index, raft::index(2));
  EXPECT_EQ(state.last_term, raft::term(2));
  EXPECT_FALSE(advance(state, test::item(group_a, {test::make_entry(2, 3, ""), test::make_entry(2, 5, "")})));
  EXPECT_FALSE(advance(state, test::item(group_a, {test::make_entry(2, 3, ""), test::make_entry(1, 4, "")})));
  EXPECT_FALSE(advance(state, test::item(group_a, {test::make_entry(0, 3, "")})));
  EXPECT_TRUE(advance(state, test::item(group_a, {test::make_entry(3, 1, "replaces")}, test::hard_state(3))));
  EXPECT_EQ(state.last_index, raft::index(1));
  EXPECT_EQ(state.state, test::hard_state(3));
}

}  // namespace
}  // namespace braidmq::wal::format

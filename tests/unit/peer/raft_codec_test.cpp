#include "peer/raft_codec.hpp"

#include <gtest/gtest.h>

#include "support/sim_random.hpp"

namespace braidmq::peer {
namespace {

const raft::node_id sender{1, {}};
const raft::node_id receiver{2, {}};

raft::message with(raft::term term, decltype(raft::message::body) body) {
  return {sender, receiver, term, std::move(body)};
}

// One of each kind, with every field set to something of its own.
std::vector<raft::message> one_of_each() {
  const raft::term term(7);
  raft::append_request append{raft::index(10), raft::term(6), raft::index(9), {}};
  append.entries.push_back({raft::term(6), raft::index(11), raft::entry_kind::command, bytes::copy_of("eleven")});
  append.entries.push_back({raft::term(7), raft::index(12), raft::entry_kind::noop, {}});
  return {with(term, raft::vote_request{true, false, raft::index(3), raft::term(2)}),
          with(term, raft::vote_request{false, true, raft::index(3), raft::term(2)}),
          with(term, raft::vote_response{true, false, raft::term(8)}),
          with(term, raft::vote_response{false, true, raft::term(7)}),
          with(term, append),
          with(term, raft::append_request{raft::index(1), raft::term(1), raft::index(0), {}}),
          with(term, raft::append_response{true, raft::index(10), raft::index(4), raft::term(3)}),
          with(term, raft::append_response{false, raft::index(12), {}, {}}),
          with(term, raft::heartbeat{raft::index(9), 0xffff'ffff'ffff'fff0ULL}),
          with(term, raft::heartbeat_response{5}),
          with(term, raft::commit_notice{raft::index(12)}),
          with(term, raft::read_index_request{99}),
          with(term, raft::read_index_response{99, true, raft::index(0)}),
          with(term, raft::read_index_response{99, false, raft::index(12)}),
          with(term, raft::timeout_now{})};
}

// Frames are compared where messages have no ==: the form is a function of the message.
TEST(raft_codec, every_message_comes_back) {
  for (const raft::message& sent : one_of_each()) {
    const bytes frame = encode(raft::group_id(3), sent);
    const auto read = decode(frame, sender, receiver);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->group, raft::group_id(3));
    EXPECT_EQ(read->message.from, sender);
    EXPECT_EQ(read->message.to, receiver);
    EXPECT_EQ(read->message.term, sent.term);
    EXPECT_EQ(read->message.body.index(), sent.body.index());
    EXPECT_EQ(encode(read->group, read->message), frame);
  }
}

TEST(raft_codec, entries_have_their_places_and_bytes) {
  const bytes frame = encode(raft::group_id(3), one_of_each()[4]);
  const auto read = decode(frame, sender, receiver);
  ASSERT_TRUE(read);
  const auto& append = std::get<raft::append_request>(read->message.body);
  ASSERT_EQ(append.entries.size(), 2U);
  EXPECT_EQ(append.entries[0].index, raft::index(11));
  EXPECT_EQ(append.entries[1].index, raft::index(12));
  EXPECT_EQ(append.entries[1].kind, raft::entry_kind::noop);
  EXPECT_EQ(as_string_view(append.entries[0].payload), "eleven");
  EXPECT_GE(append.entries[0].payload.data(), frame.data()) << "shared, not copied";
  EXPECT_LT(append.entries[0].payload.data(), frame.data() + frame.size());
}

TEST(raft_codec, the_estimate_of_a_frame_holds) {
  for (const raft::message& sent : one_of_each()) {
    std::size_t most = message_overhead_bytes;
    if (const auto* append = std::get_if<raft::append_request>(&sent.body)) {
      for (const raft::entry& one : append->entries) most += entry_overhead_bytes + one.payload.size();
    }
    EXPECT_LE(encode(raft::group_id(3), sent).size(), most);
  }
}

TEST(raft_codec, what_is_cut_off_or_follows_is_refused) {
  for (const raft::message& sent : one_of_each()) {
    const bytes frame = encode(raft::group_id(3), sent);
    for (std::size_t size = 0; size < frame.size(); ++size) {
      const auto read = decode(frame.slice(0, size), sender, receiver);
      ASSERT_FALSE(read) << size;
      EXPECT_EQ(read.error().code, errc::bad_frame);
    }
    byte_buffer longer;
    longer.append(frame.view());
    longer.append("x");
    EXPECT_FALSE(decode(longer.freeze(), sender, receiver));
  }
}

// Whatever bytes come: an error, or a message without a term or an index below zero.
TEST(raft_codec, damaged_frames_are_refused_or_are_messages) {
  sim::rng chance(11);
  for (int round = 0; round < 20'000; ++round) {
    const auto all = one_of_each();
    const bytes frame = encode(raft::group_id(3), all[chance.below(all.size())]);
    std::vector<std::byte> changed(frame.view().begin(), frame.view().end());
    for (std::uint64_t i = 1 + chance.below(3); i > 0; --i) {
      changed[chance.below(changed.size())] = static_cast<std::byte>(chance.below(256));
    }
    const auto read = decode(bytes::take(std::move(changed)), sender, receiver);
    if (!read) continue;
    EXPECT_LT(read->message.term.value(), 1ULL << 63U);
    if (const auto* append = std::get_if<raft::append_request>(&read->message.body)) {
      EXPECT_LT(append->prev_index.value(), 1ULL << 63U);
      for (const raft::entry& one : append->entries) EXPECT_LT(one.term.value(), 1ULL << 63U);
    }
  }
}

TEST(raft_codec, unknown_kinds_and_numbers_below_zero_are_refused) {
  for (const std::int16_t kind :
       {std::int16_t{0}, std::int16_t{5}, std::int16_t{15}, std::int16_t{26}, std::int16_t{-1}}) {
    byte_buffer frame;
    frame.append_be(kind);
    frame.append_be(std::int16_t{0});
    frame.append_zeros(40);
    EXPECT_FALSE(decode(frame.freeze(), sender, receiver)) << kind;
  }
  raft::message beyond = with(raft::term(7), raft::commit_notice{raft::index(1ULL << 63U)});
  EXPECT_FALSE(decode(encode(raft::group_id(3), beyond), sender, receiver));
  raft::append_request append{raft::index(1), raft::term(1), raft::index(0), {}};
  append.entries.push_back({raft::term(1), raft::index(2), static_cast<raft::entry_kind>(9), {}});
  EXPECT_FALSE(decode(encode(raft::group_id(3), with(raft::term(7), append)), sender, receiver));
}

}  // namespace
}  // namespace braidmq::peer

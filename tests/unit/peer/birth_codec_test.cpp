#include "peer/birth_codec.hpp"

#include <gtest/gtest.h>

namespace braidmq::peer {
namespace {

birth_state whole_state() {
  uuid cluster;
  cluster.octets.fill(7);
  birth_state state{founding{cluster, {}}, true};
  for (std::uint8_t i = 0; i < 3; ++i) {
    raft::node_id voter{i, {}};
    voter.incarnation.octets.fill(i + 1);
    state.record->voters.push_back(voter);
  }
  return state;
}

TEST(birth_codec, states_come_back_from_frames_and_files) {
  birth_state prepared = whole_state();
  prepared.born = false;
  for (const birth_state& one : {birth_state{}, prepared, whole_state()}) {
    const auto from_frame = birth_in_frame(to_frame(one));
    ASSERT_TRUE(from_frame.has_value()) << from_frame.error().to_string();
    EXPECT_EQ(*from_frame, one);
    const auto from_file = birth_in_file(to_file(one));
    ASSERT_TRUE(from_file.has_value()) << from_file.error().to_string();
    EXPECT_EQ(*from_file, one);
    EXPECT_LE(to_file(one).size(), max_birth_file_bytes);
  }
}

TEST(birth_codec, a_file_with_another_bit_or_cut_off_is_refused) {
  const bytes whole = to_file(whole_state());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> damaged(whole.view().begin(), whole.view().end());
    damaged[i] ^= std::byte{1};
    EXPECT_FALSE(birth_in_file(bytes::copy_of(byte_view(damaged))).has_value()) << i;
    EXPECT_FALSE(birth_in_file(whole.slice(0, i)).has_value()) << i;
  }
}

TEST(birth_codec, states_that_cannot_be_are_refused) {
  birth_state born_of_nothing{{}, true};
  birth_state without_voters{founding{whole_state().record->cluster_id, {}}, false};
  birth_state without_cluster = whole_state();
  without_cluster.record->cluster_id = {};
  birth_state twice = whole_state();
  twice.record->voters[1].broker = 0;
  birth_state backwards = whole_state();
  std::swap(backwards.record->voters[0], backwards.record->voters[2]);
  for (const birth_state& one : {born_of_nothing, without_voters, without_cluster, twice, backwards}) {
    EXPECT_FALSE(birth_in_frame(to_frame(one)).has_value());
  }
}

}  // namespace
}  // namespace braidmq::peer

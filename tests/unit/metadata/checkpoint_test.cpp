#include "metadata/checkpoint.hpp"

#include <gtest/gtest.h>

#include "metadata/machine.hpp"
#include "multiraft/group.hpp"
#include "support/sim_file_system.hpp"
#include "unit/metadata/ids.hpp"

namespace braidmq::metadata {
namespace {

const std::string checkpoint_path = "/checkpoints/metadata";
constexpr raft::group_id group(0);

class MetadataCheckpointTest : public ::testing::Test {
 protected:
  MetadataCheckpointTest() { EXPECT_TRUE(fs_.make_directories("/checkpoints")); }

  outcome apply(const command& what) {
    raft::entry entry;
    entry.index = raft::index(machine_.current()->index() + 1);
    entry.payload = encode(what);
    return machine_.apply(entry);
  }
  void save() {
    const auto pinned = pin_for_checkpoint(machine_.current());
    auto writer = multiraft::checkpoint_writer::begin(fs_, checkpoint_path, {group, pinned->index(), raft::term(4)});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(pinned->write(*writer));
    ASSERT_TRUE(writer->commit());
  }

  sim::sim_file_system fs_;
  machine machine_;
};

TEST_F(MetadataCheckpointTest, AnImageComesBackWhole) {
  apply(found_cluster{id_of(9)});
  apply(register_broker{model::broker_id(3), {id_of(1), true, {{"PLAINTEXT", "b.example", 9092}}, "east-1"}});
  for (std::uint8_t i = 10; i < 200; ++i) apply(create_topic{fmt::format("t.{}", i), id_of(i), i, {{"k", "v"}}});
  apply(alter_topic{id_of(20), 500, {{"k", std::nullopt}}});
  apply(delete_topic{id_of(30)});
  apply(delete_topic{id_of(31)});
  apply(allocate_producer_ids{model::broker_id(3)});
  save();

  const auto loaded = read_checkpoint(fs_, checkpoint_path, group);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const image_ptr was = machine_.current();
  const image_ptr& now = loaded->image;
  ASSERT_TRUE(now);
  EXPECT_EQ(now->index(), was->index());
  EXPECT_EQ(now->topics_index(), was->topics_index());
  EXPECT_EQ(now->cluster_id(), was->cluster_id());
  EXPECT_EQ(now->brokers(), was->brokers());
  EXPECT_EQ(now->next_producer_id(), was->next_producer_id());
  EXPECT_EQ(now->deletions(), was->deletions());
  EXPECT_EQ(now->deletions().size(), 2U);
  ASSERT_EQ(now->topics().size(), was->topics().size());
  for (const auto& [name, topic] : was->topics()) {
    const topic_image* found = now->find(name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found, now->find(topic->id));
    EXPECT_EQ(found->partitions, topic->partitions);
    EXPECT_EQ(found->configs, topic->configs);
    EXPECT_EQ(found->created_index, topic->created_index);
    EXPECT_EQ(found->changed_index, topic->changed_index);
  }
  EXPECT_NE(now->find_collision("t_20"), nullptr);

  // It goes on where it stood.
  machine again(now);
  raft::entry entry;
  entry.index = raft::index(now->index() + 1);
  entry.payload = encode(create_topic{"t.20", id_of(250), 1, {}});
  EXPECT_EQ(again.apply(entry).error, errc::topic_exists);
}

TEST_F(MetadataCheckpointTest, DeletionsAreForgottenWhenTheyAreAppliedEverywhere) {
  for (std::uint8_t i = 1; i < 4; ++i) apply(create_topic{fmt::format("t{}", i), id_of(i), 1, {}});
  apply(delete_topic{id_of(1)});
  const std::uint64_t first = machine_.current()->index();
  apply(delete_topic{id_of(2)});
  apply(forget_deletions{first});
  EXPECT_FALSE(machine_.current()->deletions().contains(id_of(1)));
  EXPECT_TRUE(machine_.current()->deletions().contains(id_of(2)));
  EXPECT_EQ(machine_.current()->find(id_of(1)), nullptr);
}

TEST_F(MetadataCheckpointTest, ThereIsNoneBeforeTheFirstAndADamagedOneIsRefused) {
  const auto none = read_checkpoint(fs_, checkpoint_path, group);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->image, nullptr);
  apply(create_topic{"orders", id_of(1), 1, {}});
  save();
  fs_.flip_bits(checkpoint_path, 70, 1);
  const auto damaged = read_checkpoint(fs_, checkpoint_path, group);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, multiraft::errc::checkpoint_damaged);
}

}  // namespace
}  // namespace braidmq::metadata

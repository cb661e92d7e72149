// A replica that starts from a checkpoint is the one that it was.
#include "braid/checkpoint.hpp"

#include <map>

#include "memory_logs.hpp"
#include "multiraft/group.hpp"
#include "replica_fixture.hpp"

namespace braidmq::braid {
namespace {

const auto audit = partition_of(3, 0);
const std::string checkpoint_path = "/checkpoints/braid";

class CheckpointTest : public ReplicaTest {
 protected:
  CheckpointTest() {
    options_.log.segments.bytes = 300;
    options_.log.index_interval_bytes = 64;
    options_.checkpoint.due_after = std::chrono::seconds(60);
  }

  static std::map<model::topic_partition_id, hash128> hashes(const replica& of) {
    std::map<model::topic_partition_id, hash128> all;
    for (const auto& [id, one] : of.state().partitions()) all[id] = one->hash();
    return all;
  }

  void fill(life& now) {
    now.create(orders, {{"retention.ms", "1000"}});
    now.create(inventory);
    now.create(audit);
    for (std::int32_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(now.produce(
          {{orders, make_batch({"order"}, idempotent(7, 0, i))}, {inventory, make_batch({"a", "b", "c"})}}));
    }
    ASSERT_TRUE(now.produce({{audit, make_batch({"seen"}, idempotent(8, 2, 0))}}));
  }

  raft::index index_on_disk() {
    const auto reader = multiraft::checkpoint_reader::open(fs_, checkpoint_path, raft::group_id(1));
    EXPECT_TRUE(reader) << reader.error().to_string();
    return *reader ? (*reader)->id().index : raft::index(0);
  }
};

TEST_F(CheckpointTest, TheStateComesBackAndTheLogIsNotReadAgain) {
  life* now = &start();
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  ASSERT_EQ(now->braid->statistics().checkpoints.taken, 1U);
  const auto before = hashes(*now->braid);
  const auto stored = now->read_all(orders);
  const topic_state topic = *now->braid->state().find_topic(orders.topic);
  const raft::index applied = now->braid->state().applied_index();
  EXPECT_EQ(index_on_disk(), applied);

  now = &start();
  EXPECT_EQ(hashes(*now->braid), before);
  EXPECT_EQ(now->braid->statistics().entries_applied, 1U) << "the new leader's first entry";
  EXPECT_EQ(now->braid->state().applied_index(), applied + 1);
  EXPECT_EQ(now->read_all(orders), stored);
  EXPECT_EQ(*now->braid->state().find_topic(orders.topic), topic);
  const auto again = now->produce({{orders, make_batch({"order"}, idempotent(7, 0, 5))}});
  EXPECT_TRUE(again->slices[0].duplicate);
  EXPECT_EQ(again->slices[0].base.value(), 5);
  EXPECT_EQ(now->produce({{orders, make_batch({"next"}, idempotent(7, 0, 8))}})->slices[0].base.value(), 8);
  EXPECT_EQ(now->produce({{audit, make_batch({"stale"}, idempotent(8, 1, 0))}})->slices[0].error,
            errc::stale_producer_epoch);
}

TEST_F(CheckpointTest, WhatCameAfterItIsAppliedOnceMore) {
  life* now = &start();
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  const auto added = partition_of(4, 1);
  now->create(added);
  ASSERT_TRUE(now->produce({{orders, make_batch({"late"})}, {added, make_batch({"x"})}}));
  now->remove(audit);
  now->run();
  const auto before = hashes(*now->braid);
  ASSERT_FALSE(before.contains(audit));

  now = &start();
  EXPECT_EQ(hashes(*now->braid), before);
  EXPECT_EQ(now->read_all(orders).size(), 9U);
  EXPECT_EQ(now->read_all(added).size(), 1U);
}

TEST_F(CheckpointTest, AStartSaysWhatItDidAndCutsNoFileThatTheLogBringsBack) {
  life* now = &start();
  EXPECT_EQ(now->braid->statistics().start.loaded, raft::index(0));
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  ASSERT_TRUE(now->produce({{orders, make_batch({"late"})}, {inventory, make_batch({"x"})}}));
  const raft::index loaded = index_on_disk();
  const auto truncates = fs_.operations().truncates;
  now = &start();
  EXPECT_EQ(fs_.operations().truncates, truncates);
  const start_stats begun = now->braid->statistics().start;
  EXPECT_EQ(begun.loaded, loaded);
  EXPECT_EQ(begun.partitions, 3U);
  EXPECT_EQ(begun.entries_applied, 2U) << "the late one, and the new leader's first entry";
  EXPECT_GT(begun.bytes_applied, 0U);
  EXPECT_EQ(now->read_all(orders).size(), 9U);
}

// An index with fewer entries from now on is where the log does not bring back what the files had.
TEST_F(CheckpointTest, WhatTheLogDoesNotBringBackIsCutOnceItIsApplied) {
  options_.log.segments.bytes = 1U << 20U;
  life* now = &start();
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  ASSERT_EQ(now->braid->statistics().checkpoints.taken, 1U);
  const std::string index = "/data/" + to_string(orders) + "/00000000000000000000.index";
  const auto size_of_index = [&] { return fs_.open(index, io::open_mode::read).value()->size().value(); };
  const std::uint64_t at_checkpoint = size_of_index();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(now->produce({{orders, make_batch({"late"})}}));
  now->pass_time(options_.write_behind_delay);
  ASSERT_GT(size_of_index(), at_checkpoint);
  options_.log.index_interval_bytes = 1U << 20U;
  now = &start();
  EXPECT_EQ(size_of_index(), at_checkpoint);
  EXPECT_EQ(now->read_all(orders).size(), 18U);
}

TEST_F(CheckpointTest, IsTheSameStateWhicheverWayItWasReached) {
  life* now = &start();
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  now = &start();
  ASSERT_TRUE(now->produce({{orders, make_batch({"next"}, idempotent(7, 0, 8))}}));
  now->pass_time(std::chrono::seconds(61));
  now = &start();
  const auto after_two = hashes(*now->braid);

  // The same entries, applied from the first one.
  fs_ = sim::sim_file_system(2);
  options_.checkpoint.due_after = std::chrono::hours(1);
  now = &start();
  fill(*now);
  now = &start();
  ASSERT_TRUE(now->produce({{orders, make_batch({"next"}, idempotent(7, 0, 8))}}));
  // Terms stand in the batches, times in the producers' rows: both lives had the same.
  const auto from_the_log = hashes(*now->braid);
  EXPECT_EQ(from_the_log.size(), 3U);
  EXPECT_EQ(from_the_log, after_two);
}

TEST_F(CheckpointTest, TheLogLetsGoOfWhatLiesBefore) {
  options_.checkpoint.due_bytes = 100'000;
  life* now = &start();
  now->create(orders);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(now->produce({{orders, make_batch({std::string(10'000, 'v')})}}));
    now->pass_time(std::chrono::milliseconds(100));
  }
  EXPECT_GE(now->braid->statistics().checkpoints.taken, 5U);
  std::size_t logs = 0;
  const auto names = fs_.list("/wal").value();
  for (const std::string& name : names) logs += name.starts_with("spare") ? 0 : 1;
  EXPECT_LE(logs, 6U) << "of 64 KiB, for 1 MB that was written";
  now = &start();
  EXPECT_EQ(now->read_all(orders).size(), 100U);
}

TEST_F(CheckpointTest, FilesOfADeletedPartitionStayUntilNoCheckpointSpeaksOfThem) {
  life* now = &start();
  fill(*now);
  now->pass_time(std::chrono::seconds(61));
  const std::string folder = "/data/" + to_string(audit);
  now->remove(audit);
  now->run();
  EXPECT_EQ(now->braid->state().find(audit), nullptr);
  EXPECT_EQ(now->braid->statistics().partitions_being_removed, 1U);
  EXPECT_TRUE(*fs_.exists(folder));
  now = &start();
  EXPECT_EQ(now->braid->state().find(audit), nullptr) << "the log says so once more";
  EXPECT_TRUE(*fs_.exists(folder));
  now->pass_time(std::chrono::seconds(61));
  EXPECT_FALSE(*fs_.exists(folder));
  EXPECT_EQ(now->braid->statistics().partitions_being_removed, 0U);
}

TEST_F(CheckpointTest, AFolderThatNoPartitionHasIsRemovedAtTheStart) {
  fill(start());
  life_->pass_time(std::chrono::seconds(61));
  const std::string orphan = "/data/" + to_string(partition_of(9, 3));
  const std::string foreign = "/data/notes";
  for (const std::string& folder : {orphan, foreign}) {
    ASSERT_TRUE(fs_.make_directories(folder));
    ASSERT_TRUE(fs_.open(folder + "/00000000000000000000.log", io::open_mode::create));
  }
  start();
  EXPECT_FALSE(*fs_.exists(orphan));
  EXPECT_TRUE(*fs_.exists(foreign)) << "not a name of ours";
}

TEST_F(CheckpointTest, ADamagedOneIsRefusedAndNothingChanges) {
  fill(start());
  life_->pass_time(std::chrono::seconds(61));
  life_.reset();
  fs_.kill_process();
  fs_.flip_bits(checkpoint_path, 60, 1);
  const auto read = read_checkpoint(fs_, checkpoint_path, raft::group_id(1));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, multiraft::errc::checkpoint_damaged);
  EXPECT_TRUE(*fs_.exists("/data/" + to_string(audit)));
}

TEST_F(CheckpointTest, OneOfALaterVersionIsRefusedAndNoAdviceIsGivenToEmptyTheVolume) {
  options_.newest_apply_level = newest_apply_level + 1;
  fill(start());
  EXPECT_EQ(life_->braid->statistics().apply_level, newest_apply_level + 1);
  life_->pass_time(std::chrono::seconds(61));
  life_.reset();
  fs_.kill_process();
  const auto read = read_checkpoint(fs_, checkpoint_path, raft::group_id(1), newest_apply_level);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, multiraft::errc::checkpoint_format);
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("start the later version again"));
  EXPECT_THAT(read.error().message, ::testing::Not(::testing::HasSubstr("empty")));
  auto known = read_checkpoint(fs_, checkpoint_path, raft::group_id(1), newest_apply_level + 1);
  ASSERT_TRUE(known);
  memory_logs logs;
  machine lower(logs);
  const status restored = lower.restore(std::move(**known), [&logs](const pinned_partition& one) {
    return result<std::unique_ptr<storage::partition_log>>(logs.make(one.id));
  });
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, errc::later_version);

  const multiraft::checkpoint_id id{raft::group_id(1), raft::index(5), raft::term(1)};
  auto later = multiraft::checkpoint_writer::begin(fs_, checkpoint_path, id);
  ASSERT_TRUE(later);
  byte_buffer frame;
  frame.append_be<std::int16_t>(99);
  ASSERT_TRUE(later->add(1, frame.view()));
  ASSERT_TRUE(later->commit());
  const auto unread = read_checkpoint(fs_, checkpoint_path, raft::group_id(1));
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, multiraft::errc::checkpoint_format);
}

// The name of a checkpoint may be newer than the sync of its folder, when a kill came between the two. What the start
// after that lets go of must not be needed by the checkpoint before it.
TEST_F(CheckpointTest, AStartBuildsOnlyOnANameThatStays) {
  options_.checkpoint.due_bytes = 100'000;
  life* now = &start();
  now->create(orders);
  now->create(audit);
  const auto fill_up = [&now](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(now->produce({{orders, make_batch({std::string(10'000, 'v')})}}));
      now->pass_time(std::chrono::milliseconds(50));
    }
  };
  fill_up(12);
  ASSERT_GE(now->braid->statistics().checkpoints.taken, 1U);
  now->remove(audit);
  fs_.fail_next(sim::operation::sync_directory, "/checkpoints", io::errc::device_error);
  for (int i = 0; i < 20 && now->fatal.empty(); ++i) {
    now->braid->produce(
        {{{{orders, make_batch({std::string(10'000, 'v')})}}}, std::chrono::seconds(5)}, [] {},
        [](const result<unit_outcome>&) {});
    now->pass_time(std::chrono::milliseconds(50));
  }
  ASSERT_FALSE(now->fatal.empty());
  now = &start();  // on the checkpoint whose name was not synced
  const std::size_t before = now->read_all(orders).size();
  now->pass_time(std::chrono::milliseconds(50));
  life_.reset();
  sim::rng chance(1);
  fs_.power_cut(chance, sim::power_cut_options::only_synced());
  now = &start();
  EXPECT_TRUE(now->fatal.empty());
  EXPECT_EQ(now->read_all(orders).size(), before);
}

// The whole path, cut at each of its operations: nothing acknowledged is lost, and every start succeeds.
TEST_F(CheckpointTest, APowerCutAtAnyOperationLosesNothing) {
  std::uint64_t most = 0;
  {
    sim::sim_file_system fs(1);
    options_.checkpoint.due_bytes = 1;
    life whole(fs, 1, options_);
    whole.run();
    fill(whole);
    whole.remove(inventory);
    whole.pass_time(std::chrono::seconds(1));
    most = fs.operations().total();
  }
  ASSERT_GT(most, 100U);
  int with_checkpoint = 0;
  for (std::uint64_t at = 20; at <= most; at += 3) {
    SCOPED_TRACE(at);
    sim::sim_file_system fs(at);
    std::size_t acknowledged = 0;
    bool created = false;
    {
      life first(fs, at, options_);
      first.run();
      first.create(orders);
      first.create(audit);
      created = first.braid->state().find(audit) != nullptr;
      fs.crash_after(at);
      for (std::int32_t i = 0; i < 10 && created; ++i) {
        bool answered = false;
        first.braid->produce(
            {{{{orders, make_batch({"order"}, idempotent(7, 0, i))}, {audit, make_batch({"a"})}}},
             std::chrono::seconds(5)},
            [] {}, [&](result<unit_outcome> said) { answered = said.has_value() && !said->slices[0].error; });
        first.pass_time(std::chrono::milliseconds(25));
        if (!answered) break;
        ++acknowledged;
      }
      if (acknowledged == 10) {
        first.remove(audit);
        first.pass_time(std::chrono::milliseconds(100));
      }
    }
    ASSERT_TRUE(created);
    sim::rng chance(at);
    fs.power_cut(chance);
    life second(fs, at + 1, options_);
    second.run();
    EXPECT_TRUE(second.fatal.empty());
    with_checkpoint += *fs.exists(checkpoint_path) ? 1 : 0;
    ASSERT_NE(second.braid->state().find(orders), nullptr);
    EXPECT_GE(second.read_all(orders).size(), acknowledged);
    if (second.braid->state().find(audit) != nullptr) {
      EXPECT_EQ(second.read_all(audit).size(), second.read_all(orders).size()) << "both or neither";
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(with_checkpoint, 10);
}

}  // namespace
}  // namespace braidmq::braid

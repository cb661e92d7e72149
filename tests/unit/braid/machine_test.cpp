#include "braid/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_logs.hpp"
#include "model/record_batch.hpp"
#include "support/batches.hpp"

namespace braidmq::braid {
namespace {

using sim::idempotent;
using sim::make_batch;
using sim::partition_of;

class MachineTest : public ::testing::Test {
 protected:
  std::vector<unit_outcome> apply(entry_command command, std::uint64_t term = 1) {
    raft::entry entry;
    entry.index = machine_.applied_index() + 1;
    entry.term = raft::term(term);
    entry.payload = encode(command);
    return machine_.apply(entry).value();
  }

  void create(const model::topic_partition_id& id, std::int32_t epoch_base = 0, std::uint64_t metadata_index = 1) {
    entry_command command;
    command.creations.push_back({id, epoch_base, metadata_index});
    apply(command);
  }
  void remove(std::uint8_t topic, std::uint64_t metadata_index) {
    entry_command command;
    command.deletions.push_back({partition_of(topic, 0).topic, metadata_index});
    apply(command);
  }

  slice_outcome append(const model::topic_partition_id& id, const bytes& batch, std::uint64_t term = 1,
                       std::int64_t time_ms = 0) {
    entry_command command;
    command.leader_time_ms = time_ms;
    command.units.push_back({{{id, batch}}});
    return apply(command, term).at(0).slices.at(0);
  }

  memory_logs logs_;
  machine machine_{logs_};
};

TEST_F(MachineTest, OffsetsAreWhatApplyOrderMakesThem) {
  create(partition_of(1, 0));
  create(partition_of(1, 1));
  entry_command command;
  command.units.push_back({{{partition_of(1, 0), make_batch({"a", "b"})}, {partition_of(1, 1), make_batch({"c"})}}});
  command.units.push_back({{{partition_of(1, 0), make_batch({"d"})}}});
  const auto outcomes = apply(command, 3);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].slices[0].base.value(), 0);
  EXPECT_EQ(outcomes[0].slices[1].base.value(), 0);
  EXPECT_EQ(outcomes[1].slices[0].base.value(), 2);
}

TEST_F(MachineTest, BaseOffsetAndLeaderEpochAreStampedAndTheCrcStaysGood) {
  create(partition_of(1, 0), 10);
  append(partition_of(1, 0), make_batch({"a", "b", "c"}), 4);
  append(partition_of(1, 0), make_batch({"d"}), 5);
  const auto& stored = logs_.logs[partition_of(1, 0)]->batches();
  ASSERT_EQ(stored.size(), 2U);
  const auto header = model::check_whole_batch(stored[1].data);
  ASSERT_TRUE(header) << header.error().to_string();
  EXPECT_EQ(header->base_offset.value(), 3);
  EXPECT_EQ(header->partition_leader_epoch.value(), 15);
}

TEST_F(MachineTest, NothingIsVisibleBeforePublishAndThenAllAtOnce) {
  create(partition_of(1, 0));
  create(partition_of(2, 0));
  machine_.publish();
  entry_command command;
  command.units.push_back({{{partition_of(1, 0), make_batch({"a"})}, {partition_of(2, 0), make_batch({"b"})}}});
  apply(command);
  EXPECT_EQ(machine_.find(partition_of(1, 0))->visible_end().value(), 0);
  EXPECT_EQ(machine_.find(partition_of(2, 0))->visible_end().value(), 0);
  EXPECT_LT(machine_.visible_index(), machine_.applied_index());
  const auto grown = machine_.publish();
  EXPECT_EQ(grown.size(), 2U);
  EXPECT_GT(grown[0].bytes, 61U);
  EXPECT_EQ(machine_.find(partition_of(1, 0))->visible_end().value(), 1);
  EXPECT_EQ(machine_.find(partition_of(2, 0))->visible_end().value(), 1);
  EXPECT_EQ(machine_.visible_index(), machine_.applied_index());
  EXPECT_TRUE(machine_.publish().empty());
}

TEST_F(MachineTest, P2_ADuplicateGetsItsOldOffsetAlsoWithinOneEntry) {
  create(partition_of(1, 0));
  const bytes batch = make_batch({"a", "b"}, idempotent(9, 0, 0));
  entry_command command;
  command.units.push_back({{{partition_of(1, 0), batch}}});
  command.units.push_back({{{partition_of(1, 0), batch}}});
  const auto outcomes = apply(command);
  EXPECT_FALSE(outcomes[0].slices[0].duplicate);
  EXPECT_TRUE(outcomes[1].slices[0].duplicate);
  EXPECT_FALSE(outcomes[1].slices[0].error);
  EXPECT_EQ(outcomes[1].slices[0].base.value(), 0);
  EXPECT_EQ(logs_.logs[partition_of(1, 0)]->batches().size(), 1U);
}

TEST_F(MachineTest, P3_AGapIsRefusedAndAppendsNothingAndOtherSlicesGoOn) {
  create(partition_of(1, 0));
  append(partition_of(1, 0), make_batch({"a"}, idempotent(9, 0, 0)));
  entry_command command;
  command.units.push_back(
      {{{partition_of(1, 0), make_batch({"x"}, idempotent(9, 0, 2))}, {partition_of(1, 0), make_batch({"y"})}}});
  const auto outcomes = apply(command);
  EXPECT_EQ(outcomes[0].slices[0].error, errc::out_of_order_sequence);
  EXPECT_EQ(outcomes[0].slices[1].base.value(), 1);
}

TEST_F(MachineTest, AStaleProducerEpochIsRefused) {
  create(partition_of(1, 0));
  append(partition_of(1, 0), make_batch({"a"}, idempotent(9, 2, 0)));
  EXPECT_EQ(append(partition_of(1, 0), make_batch({"b"}, idempotent(9, 1, 1))).error, errc::stale_producer_epoch);
}

TEST_F(MachineTest, AnUnknownPartitionFailsAloneAndCreationIsIdempotent) {
  create(partition_of(1, 0));
  EXPECT_EQ(append(partition_of(7, 0), make_batch({"a"})).error, errc::unknown_partition);
  append(partition_of(1, 0), make_batch({"a"}));
  create(partition_of(1, 0));
  EXPECT_EQ(machine_.find(partition_of(1, 0))->end_offset().value(), 1);
}

TEST_F(MachineTest, ADeletionTakesAllPartitionsOfTheTopicAndNoOther) {
  for (std::int32_t p = 0; p < 3; ++p) create(partition_of(2, p));
  create(partition_of(1, 0));
  create(partition_of(3, 0));
  append(partition_of(2, 1), make_batch({"a"}, idempotent(9, 0, 0)));
  remove(2, 5);
  EXPECT_EQ(machine_.partitions().size(), 2U);
  EXPECT_EQ(machine_.topic_count(), 2U);
  const auto deleted = machine_.take_deleted();
  ASSERT_EQ(deleted.size(), 3U);
  EXPECT_EQ(deleted[1]->end_offset().value(), 1) << "its log is handed over, whole";
  EXPECT_TRUE(machine_.take_deleted().empty());
  EXPECT_TRUE(machine_.publish().empty()) << "nothing of it becomes visible any more";
  EXPECT_EQ(append(partition_of(2, 1), make_batch({"b"})).error, errc::unknown_partition);
}

TEST_F(MachineTest, ADeletionComesBeforeTheUnitsOfItsEntry) {
  create(partition_of(1, 0));
  create(partition_of(2, 0));
  entry_command command;
  command.deletions.push_back({partition_of(1, 0).topic, 5});
  command.units.push_back({{{partition_of(1, 0), make_batch({"a"})}, {partition_of(2, 0), make_batch({"b"})}}});
  const auto outcomes = apply(command);
  EXPECT_EQ(outcomes[0].slices[0].error, errc::unknown_partition);
  EXPECT_EQ(outcomes[0].slices[1].base.value(), 0);
}

TEST_F(MachineTest, ALeaderThatLagsCannotBringBackWhatWasDeleted) {
  create(partition_of(1, 0), 0, 4);
  remove(1, 7);
  create(partition_of(1, 0), 0, 6);
  EXPECT_EQ(machine_.find(partition_of(1, 0)), nullptr) << "the topic was there at 6, and gone at 7";
  create(partition_of(2, 0), 0, 6);
  EXPECT_EQ(machine_.find(partition_of(2, 0)), nullptr) << "it may be one that the deletion at 7 took away";
  create(partition_of(2, 0), 0, 7);
  EXPECT_NE(machine_.find(partition_of(2, 0)), nullptr);
  remove(3, 9);
  create(partition_of(2, 1), 0, 7);
  EXPECT_NE(machine_.find(partition_of(2, 1)), nullptr) << "a topic that is there may grow at any index";
  remove(1, 7);
  EXPECT_EQ(machine_.last_deletion_index(), 9U) << "repeating a deletion changes nothing";
}

TEST_F(MachineTest, ConfigsAreThoseOfTheLatestChangeWhateverComesLater) {
  const auto topic = partition_of(1, 0).topic;
  const auto configure = [&](std::uint64_t index, std::map<std::string, std::string> values) {
    entry_command command;
    command.configs.push_back({topic, index, std::move(values)});
    apply(command);
  };
  configure(3, {{"a", "1"}});
  EXPECT_EQ(machine_.find_topic(topic), nullptr) << "a config makes no topic";
  create(partition_of(1, 0));
  EXPECT_EQ(machine_.find_topic(topic)->config_index, 0U);
  configure(5, {{"a", "1"}, {"b", "2"}});
  configure(4, {{"a", "0"}});
  EXPECT_EQ(machine_.find_topic(topic)->configs.at("a"), "1");
  configure(6, {});
  EXPECT_TRUE(machine_.find_topic(topic)->configs.empty());
  EXPECT_EQ(machine_.find_topic(topic)->config_index, 6U);
}

TEST_F(MachineTest, L3_LeaderEpochsAreRememberedByTerm) {
  create(partition_of(1, 0));
  append(partition_of(1, 0), make_batch({"a", "b"}), 2);
  append(partition_of(1, 0), make_batch({"c"}), 5);
  const auto& epochs = machine_.find(partition_of(1, 0))->epochs();
  EXPECT_EQ(epochs.end_of(model::leader_epoch(2), model::offset(3))->end.value(), 2);
  EXPECT_EQ(epochs.epoch_of(model::offset(2))->value(), 5);
}

TEST_F(MachineTest, E4_TheSameEntriesMakeTheSameState) {
  memory_logs other_logs;
  machine other(other_logs);
  std::uint64_t index = 0;
  const auto feed = [&](const entry_command& command) {
    raft::entry entry;
    entry.index = raft::index(++index);
    entry.term = raft::term(1);
    entry.payload = encode(command);
    ASSERT_TRUE(machine_.apply(entry));
    ASSERT_TRUE(other.apply(entry));
    machine_.publish();  // at other moments than the other one
  };
  for (int i = 0; i < 50; ++i) {
    entry_command command;
    command.leader_time_ms = i;
    if (i % 10 == 0) command.creations.push_back({partition_of(static_cast<std::uint8_t>(i), 0), 0, index});
    const auto target = partition_of(static_cast<std::uint8_t>(i - i % 10), 0);
    command.units.push_back({{{target, make_batch({"v"}, idempotent(i % 3, 0, i / 3))}}});
    feed(command);
  }
  for (const auto& [id, log] : logs_.logs) {
    const auto& mine = log->batches();
    const auto& theirs = other_logs.logs.at(id)->batches();
    ASSERT_EQ(mine.size(), theirs.size());
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i].data, theirs[i].data);
  }
}

TEST_F(MachineTest, IdleProducersGoByEntriesAndTheirTime) {
  const auto one = partition_of(1, 0);
  create(one);
  append(one, make_batch({"a"}, idempotent(8, 3, 0)), 1, 100);
  append(one, make_batch({"a"}, idempotent(9, 3, 0)), 1, 100);
  append(one, make_batch({"b"}, idempotent(9, 3, 1)), 1, 101);
  EXPECT_EQ(machine_.producer_count(), 2U);
  entry_command command;
  command.leader_time_ms = 1000;
  command.expiries.push_back({one, 100, {model::producer_id(8), model::producer_id(9)}});
  command.expiries.push_back({partition_of(4, 0), 100, {model::producer_id(8)}});  // deleted meanwhile
  // Of the same entry: applied after the expiry.
  command.units.push_back({{{one, make_batch({"c"}, idempotent(8, 1, 40))}}});
  command.units.push_back({{{one, make_batch({"b"}, idempotent(9, 3, 1))}}});
  const auto outcomes = apply(command);
  EXPECT_EQ(outcomes[0].slices[0].base.value(), 3) << "nothing is known of it, of its old epoch neither";
  EXPECT_TRUE(outcomes[1].slices[0].duplicate) << "it has written since";
  EXPECT_EQ(machine_.producers_expired(), 1U);
  EXPECT_EQ(machine_.producer_count(), 2U);
  command = {};
  command.leader_time_ms = 1000;
  command.deletions.push_back({one.topic, 5});
  apply(command);
  EXPECT_EQ(machine_.producer_count(), 0U);
}

TEST_F(MachineTest, TheLevelRisesByEntriesAndIsStateThatIsHashed) {
  machine other(logs_, 3);
  const auto raise = [](machine& target, std::int16_t level) {
    entry_command command;
    command.apply_level = level;
    raft::entry entry;
    entry.index = target.applied_index() + 1;
    entry.payload = encode(command);
    return target.apply(entry);
  };
  EXPECT_EQ(other.level(), 0);
  ASSERT_TRUE(raise(other, 2));
  EXPECT_EQ(other.level(), 2);
  machine lower(logs_, 3);
  ASSERT_TRUE(raise(lower, 1));
  EXPECT_NE(other.hash(), lower.hash());
  ASSERT_TRUE(raise(other, 1));
  EXPECT_EQ(other.level(), 2) << "it never falls";
  ASSERT_TRUE(raise(other, 3));
  EXPECT_EQ(other.level(), 3);
}

TEST_F(MachineTest, AnEntryOfALaterVersionIsRefusedAndChangesNothing) {
  create(partition_of(1, 0));
  const hash128 before = machine_.hash();
  entry_command command;
  command.apply_level = newest_apply_level + 1;
  command.deletions.push_back({partition_of(1, 0).topic, 5});
  raft::entry entry;
  entry.index = machine_.applied_index() + 1;
  entry.payload = encode(command);
  const auto refused = machine_.apply(entry);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::later_version);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("entry 2 of the braid has apply level 2"));
  byte_buffer later;
  later.append_be<std::int16_t>(99);
  entry.payload = later.freeze();
  const auto unread = machine_.apply(entry);
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, errc::later_version);
  EXPECT_EQ(machine_.hash(), before);
}

TEST_F(MachineTest, BrokenInvariantsStopTheProcess) {
  raft::entry gap;
  gap.index = raft::index(2);
  EXPECT_DEATH((void)machine_.apply(gap), "entry 2 after 0");
  append(partition_of(1, 0), make_batch({"a"}), 1, 100);
  EXPECT_DEATH(append(partition_of(1, 0), make_batch({"a"}), 1, 99), "time of entry 2 falls");
}

}  // namespace
}  // namespace braidmq::braid

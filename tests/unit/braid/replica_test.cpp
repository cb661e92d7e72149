#include "replica_fixture.hpp"

namespace braidmq::braid {
namespace {

const io::duration checkpoint_interval = replica_options().checkpoint.due_after;

TEST_F(ReplicaTest, ServesAfterItsOwnFirstEntryAndAnswersWithOffsets) {
  life& now = start();
  EXPECT_TRUE(now.braid->statistics().serves);
  now.create(orders);
  EXPECT_EQ(now.produce({{orders, make_batch({"a", "b"})}})->slices[0].base.value(), 0);
  EXPECT_EQ(now.produce({{orders, make_batch({"c"})}})->slices[0].base.value(), 2);
}

TEST_F(ReplicaTest, NothingIsAcknowledgedBeforeItIsSynced) {
  life& now = start();
  now.create(orders);
  const auto syncs_before = fs_.operations().data_syncs;
  bool acknowledged = false;
  std::uint64_t syncs_at_answer = 0;
  now.braid->produce(
      {{{{orders, make_batch({"a"})}}}, std::chrono::seconds(5)}, [] {},
      [&](result<unit_outcome>) {
        acknowledged = true;
        syncs_at_answer = fs_.operations().data_syncs;
      });
  now.run();
  EXPECT_TRUE(acknowledged);
  EXPECT_GT(syncs_at_answer, syncs_before);
}

TEST_F(ReplicaTest, ManyRequestsShareFewEntriesAndFewSyncs) {
  life& now = start();
  now.create(orders);
  const replica_stats before = now.braid->statistics();
  const auto syncs_before = fs_.operations().data_syncs;
  int answers = 0;
  for (int i = 0; i < 200; ++i) {
    now.braid->produce(
        {{{{orders, make_batch({"v"})}}}, std::chrono::seconds(5)}, [] {},
        [&](result<unit_outcome> said) { answers += said.has_value() ? 1 : 0; });
  }
  now.run();
  EXPECT_EQ(answers, 200);
  EXPECT_LE(now.braid->statistics().entries_applied - before.entries_applied, 4U);
  EXPECT_LE(fs_.operations().data_syncs - syncs_before, 4U);
}

TEST_F(ReplicaTest, AFetchWaitsForBytesAndIsWokenByThem) {
  life& now = start();
  now.create(orders);
  fetch_request request = now.fetch_of(orders, 0);
  request.min_bytes = 1;
  request.max_wait = std::chrono::seconds(10);
  std::optional<fetch_answer> answer;
  now.braid->fetch(request, [&](result<fetch_answer> said) { answer = std::move(*said); });
  now.run();
  EXPECT_FALSE(answer);
  EXPECT_EQ(now.braid->statistics().parked_fetches, 1U);
  ASSERT_TRUE(now.produce({{orders, make_batch({"a"})}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slices[0].batches.size(), 1U);
  EXPECT_EQ(answer->slices[0].visible_end.value(), 1);
}

TEST_F(ReplicaTest, AFetchAnswersAtItsDeadlineWithWhatThereIs) {
  life& now = start();
  now.create(orders);
  ASSERT_TRUE(now.produce({{orders, make_batch({"a"})}}));
  fetch_request request = now.fetch_of(orders, 0);
  request.min_bytes = 1 << 19;
  request.max_wait = std::chrono::milliseconds(500);
  std::optional<fetch_answer> answer;
  now.braid->fetch(request, [&](result<fetch_answer> said) { answer = std::move(*said); });
  now.pass_time(std::chrono::milliseconds(499));
  EXPECT_FALSE(answer);
  now.pass_time(std::chrono::milliseconds(1));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slices[0].batches.size(), 1U);
}

TEST_F(ReplicaTest, AFetchInTheMiddleOfABatchGetsTheWholeBatch) {
  life& now = start();
  now.create(orders);
  ASSERT_TRUE(now.produce({{orders, make_batch({"a", "b", "c"})}}));
  ASSERT_TRUE(now.produce({{orders, make_batch({"d"})}}));
  const fetch_answer answer = now.fetch(now.fetch_of(orders, 1));
  ASSERT_EQ(answer.slices[0].batches.size(), 2U);
  EXPECT_EQ(model::parse_batch_header(answer.slices[0].batches[0])->base_offset.value(), 0);
}

TEST_F(ReplicaTest, FetchErrorsAnswerAtOnce) {
  life& now = start();
  now.create(orders);
  for (const std::int64_t from : {-1L, 1L}) {
    fetch_request request = now.fetch_of(orders, from);
    request.min_bytes = 1;
    request.max_wait = std::chrono::seconds(10);
    EXPECT_EQ(now.fetch(request).slices[0].error, errc::offset_out_of_range) << from;
  }
  EXPECT_EQ(now.fetch(now.fetch_of(inventory, 0)).slices[0].error, errc::unknown_partition);
  fetch_request stale = now.fetch_of(orders, 0);
  stale.slices[0].current_epoch = model::leader_epoch(0);
  EXPECT_EQ(now.fetch(stale).slices[0].error, errc::fenced_leader_epoch);
  stale.slices[0].current_epoch = model::leader_epoch(1'000);
  EXPECT_EQ(now.fetch(stale).slices[0].error, errc::unknown_leader_epoch);
}

TEST_F(ReplicaTest, TheFirstBatchComesEvenWhenItIsLargerThanTheLimits) {
  life& now = start();
  now.create(orders);
  now.create(inventory);
  ASSERT_TRUE(now.produce({{orders, make_batch({std::string(1000, 'x')})}}));
  ASSERT_TRUE(now.produce({{inventory, make_batch({std::string(1000, 'y')})}}));
  fetch_request request = now.fetch_of(orders, 0);
  request.slices.push_back(now.fetch_of(inventory, 0).slices[0]);
  for (fetch_slice& slice : request.slices) slice.max_bytes = 10;
  request.max_bytes = 10;
  request.min_bytes = 1;
  request.max_wait = std::chrono::seconds(10);
  const fetch_answer answer = now.fetch(request);
  EXPECT_EQ(answer.slices[0].batches.size(), 1U);
  EXPECT_EQ(answer.slices[1].batches.size(), 0U);
}

TEST_F(ReplicaTest, OffsetsByTimeAndAtTheEnds) {
  life& now = start();
  now.create(orders);
  ASSERT_TRUE(now.produce({{orders, make_batch({"a", "b"}, {}, 1000)}}));
  ASSERT_TRUE(now.produce({{orders, make_batch({"c"}, {}, 2000)}}));
  const auto ask = [&](offset_query::kind what, std::int64_t time = -1) {
    offset_query query;
    query.target = orders;
    query.what = what;
    query.timestamp_ms = time;
    std::optional<offset_answer> answer;
    now.braid->find_offset(query, [&](offset_answer said) { answer = said; });
    now.run();
    EXPECT_TRUE(answer && !answer->error);
    return answer->offset.value();
  };
  EXPECT_EQ(ask(offset_query::kind::earliest), 0);
  EXPECT_EQ(ask(offset_query::kind::latest), 3);
  EXPECT_EQ(ask(offset_query::kind::max_timestamp), 2);
  EXPECT_EQ(ask(offset_query::kind::at_timestamp, 1000), 0);
  EXPECT_EQ(ask(offset_query::kind::at_timestamp, 1001), 2);
  EXPECT_EQ(ask(offset_query::kind::at_timestamp, 2001), -1);
}

// What was pipelined behind a request that timed out must not pass it: its repetition would be out of order for ever.
TEST_F(ReplicaTest, ATimedOutRequestKeepsItsPlaceAndItsRepetitionIsADuplicate) {
  life& now = start();
  now.create(orders);
  std::vector<std::optional<result<unit_outcome>>> outcomes(3);
  for (std::int32_t i = 0; i < 3; ++i) {
    const auto timeout = i == 0 ? std::chrono::milliseconds(100) : std::chrono::seconds(5);
    now.braid->produce(
        {{{{orders, make_batch({"v"}, idempotent(1, 0, i))}}}, timeout}, [] {},
        [&outcomes, i](result<unit_outcome> said) { outcomes[static_cast<std::size_t>(i)] = std::move(said); });
  }
  now.timers.advance(std::chrono::milliseconds(100));
  now.run_timer_first();
  ASSERT_TRUE(outcomes[0]);
  ASSERT_FALSE(*outcomes[0]);
  EXPECT_EQ(outcomes[0]->error().code, errc::timed_out);
  now.run();
  EXPECT_EQ((*outcomes[1])->slices[0].base.value(), 1);
  EXPECT_EQ((*outcomes[2])->slices[0].base.value(), 2);
  const auto again = now.produce({{orders, make_batch({"v"}, idempotent(1, 0, 0))}});
  EXPECT_TRUE(again->slices[0].duplicate);
  EXPECT_EQ(again->slices[0].base.value(), 0);
}

TEST_F(ReplicaTest, AFailedSyncEndsAcknowledgementForGood) {
  life& now = start();
  now.create(orders);
  fs_.fail_next(sim::operation::sync_data, "/wal/*", io::errc::device_error);
  std::vector<bool> acknowledged;
  for (int i = 0; i < 3; ++i) {
    now.braid->produce(
        {{{{orders, make_batch({"a"})}}}, std::chrono::seconds(1)}, [] {},
        [&](result<unit_outcome> said) { acknowledged.push_back(said.has_value()); });
    now.run();
  }
  now.pass_time(std::chrono::seconds(2));
  EXPECT_EQ(now.fatal.size(), 1U) << "told once";
  EXPECT_THAT(acknowledged, ::testing::Each(false));
  EXPECT_FALSE(now.braid->statistics().serves);
}

TEST_F(ReplicaTest, StopAnswersEverythingThatWaits) {
  life& now = start();
  now.create(orders);
  int answers = 0;
  fetch_request request = now.fetch_of(orders, 0);
  request.min_bytes = 1;
  request.max_wait = std::chrono::seconds(10);
  now.braid->fetch(request, [&](result<fetch_answer>) { ++answers; });
  now.run();
  now.braid->produce(
      {{{{orders, make_batch({"a"})}}}, std::chrono::seconds(5)}, [] {},
      [&](result<unit_outcome> said) {
        ++answers;
        EXPECT_FALSE(said);
      });
  now.braid->when_applied(inventory.topic, 9, std::chrono::seconds(5), [&](status said) {
    ++answers;
    EXPECT_FALSE(said);
  });
  now.braid->stop();
  now.run();
  EXPECT_EQ(answers, 3);
}

TEST_F(ReplicaTest, CreationIsHeardWhenAppliedAndTimesOutOtherwise) {
  life& now = start();
  std::vector<std::string> heard;
  now.braid->when_applied(orders.topic, 1, std::chrono::seconds(1),
                          [&](status said) { heard.push_back(said ? "made" : "late"); });
  now.braid->when_applied(inventory.topic, 2, std::chrono::seconds(1),
                          [&](status said) { heard.push_back(said ? "made" : "late"); });
  now.create(orders);
  EXPECT_THAT(heard, ::testing::ElementsAre("made"));
  now.pass_time(std::chrono::seconds(1));
  EXPECT_THAT(heard, ::testing::ElementsAre("made", "late"));
}

TEST_F(ReplicaTest, ATopicGrowsAndTakesItsConfigsIntoTheBraid) {
  life& now = start();
  now.create(orders, {{"a", "1"}});
  EXPECT_EQ(now.braid->state().find_topic(orders.topic)->configs.at("a"), "1");
  ASSERT_TRUE(now.produce({{orders, make_batch({"x"})}}));
  const auto grown = partition_of(1, 2);
  const auto entries_before = now.braid->statistics().entries_applied;
  now.create(grown, {{"a", "2"}});
  EXPECT_EQ(now.braid->statistics().entries_applied, entries_before + 1) << "one entry has all of it";
  EXPECT_EQ(now.braid->statistics().partitions, 3U);
  EXPECT_EQ(now.braid->state().find_topic(orders.topic)->configs.at("a"), "2");
  EXPECT_EQ(now.produce({{orders, make_batch({"y"})}})->slices[0].base.value(), 1) << "what was there stays";
  EXPECT_EQ(now.produce({{grown, make_batch({"z"})}})->slices[0].base.value(), 0);
}

TEST_F(ReplicaTest, ADeletionIsHeardAtOnceByAllThatWait) {
  life& now = start();
  now.create(orders);
  now.create(inventory);
  fetch_request request = now.fetch_of(inventory, 0);
  request.slices.push_back(now.fetch_of(orders, 0).slices[0]);
  request.min_bytes = 1;
  request.max_wait = std::chrono::seconds(10);
  std::optional<fetch_answer> answer;
  now.braid->fetch(request, [&](result<fetch_answer> said) { answer = std::move(*said); });
  now.run();
  ASSERT_FALSE(answer);
  std::optional<status> heard;
  now.remove(orders);
  now.braid->when_applied(orders.topic, now.metadata_index, std::chrono::seconds(1),
                          [&](status said) { heard = std::move(said); });
  std::optional<result<unit_outcome>> late;
  now.braid->produce(
      {{{{orders, make_batch({"a"})}}}, std::chrono::seconds(5)}, [] {},
      [&](result<unit_outcome> said) { late = std::move(said); });
  now.run();
  ASSERT_TRUE(heard.has_value() && heard->has_value());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->slices[0].error);
  EXPECT_EQ(answer->slices[1].error, errc::unknown_partition);
  ASSERT_TRUE(late.has_value() && late->has_value());
  EXPECT_EQ((**late).slices[0].error, errc::unknown_partition);
  EXPECT_EQ(now.braid->statistics().parked_fetches, 0U);
  EXPECT_EQ(now.braid->statistics().partitions, 1U);
}

TEST_F(ReplicaTest, WhatWaitsForAnEntryIsRefusedWhenTheDiskIsFull) {
  options_.entries_in_flight = 1;
  life& now = start();
  now.create(orders);
  std::vector<std::error_code> said;
  for (int i = 0; i < 3; ++i) {
    now.braid->produce(
        {{{{orders, make_batch({"v"})}}}, std::chrono::seconds(5)}, [] {},
        [&said](const result<unit_outcome>& outcome) {
          said.push_back(outcome ? std::error_code() : outcome.error().code);
        });
    now.run_timer_first();  // the first one is under way, the others wait for it
  }
  now.braid->set_disk_full(true);
  EXPECT_EQ(said, (std::vector<std::error_code>{errc::disk_full, errc::disk_full}));
  now.run();
  EXPECT_EQ(said.back(), std::error_code()) << "what was under way is written";
  EXPECT_EQ(now.read_all(orders).size(), 1U);
  now.braid->set_disk_full(false);
  EXPECT_EQ(now.produce({{orders, make_batch({"v"})}})->slices[0].base.value(), 1);
}

TEST_F(ReplicaTest, FilesOfADeletedTopicGoAndTheBoundOfWriteBehindIsFree) {
  options_.write_behind_max_bytes = 4000;
  life& now = start();
  now.create(partition_of(1, 1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(now.produce({{orders, make_batch({std::string(900, 'x')})}}));
  ASSERT_EQ(fs_.list("/data")->size(), 1U) << "a folder is made with its first write";
  // The disk stands still while more comes and the topic goes.
  for (int i = 0; i < 3; ++i) {
    now.braid->produce(
        {{{{orders, make_batch({std::string(900, 'y')})}}}, std::chrono::seconds(5)}, []() {},
        [](const result<unit_outcome>&) {});
  }
  now.remove(orders);
  now.run();
  EXPECT_EQ(now.braid->statistics().partitions_being_removed, 2U) << "until a checkpoint does not speak of them";
  now.pass_time(checkpoint_interval);
  EXPECT_EQ(now.braid->statistics().partitions_being_removed, 0U);
  EXPECT_EQ(now.braid->statistics().write_behind_bytes, 0U);
  EXPECT_TRUE(fs_.list("/data")->empty());
  EXPECT_EQ(now.braid->statistics().removals_failed, 0U);
  now.create(inventory);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(now.produce({{inventory, make_batch({std::string(900, 'x')})}}));
}

TEST_F(ReplicaTest, AReadThatIsUnderWayKeepsTheFilesUntilItsEnd) {
  options_.log.cache_bytes = 0;
  life& now = start();
  now.create(orders);
  now.create(inventory);
  ASSERT_TRUE(now.produce({{orders, make_batch({"a"})}}));
  ASSERT_TRUE(now.produce({{inventory, make_batch({"b"})}}));
  now.pass_time(options_.write_behind_delay);
  fetch_request request = now.fetch_of(orders, 0);
  request.slices.push_back(now.fetch_of(inventory, 0).slices[0]);
  std::optional<fetch_answer> answer;
  now.braid->fetch(request, [&](result<fetch_answer> said) { answer = std::move(*said); });
  now.remove(orders);
  now.remove(inventory);
  // Only the shard and the write-ahead log run: the deletions are applied while the disk has yet to read.
  while (now.run_one_of(now.shard) || now.run_one_of(now.wal_disk)) {
  }
  EXPECT_EQ(now.braid->statistics().partitions, 0U);
  EXPECT_FALSE(answer);
  EXPECT_EQ(fs_.list("/data")->size(), 2U);
  now.run();
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->slices[0].batches.size(), 1U) << "the read was there before the deletion";
  EXPECT_EQ(answer->slices[1].error, errc::unknown_partition) << "this one came after it";
  now.pass_time(checkpoint_interval);
  EXPECT_TRUE(fs_.list("/data")->empty());
}

TEST_F(ReplicaTest, ADeletionIsAppliedAgainAfterARestart) {
  life* now = &start();
  now->create(orders);
  ASSERT_TRUE(now->produce({{orders, make_batch({"old"})}}));
  now->pass_time(options_.write_behind_delay);
  now->remove(orders);
  while (now->run_one_of(now->shard) || now->run_one_of(now->wal_disk)) {
  }
  ASSERT_EQ(fs_.list("/data")->size(), 1U) << "applied, and the files are still there";
  now = &start(2);
  EXPECT_EQ(now->braid->statistics().partitions, 0U);
  now->pass_time(checkpoint_interval);
  EXPECT_TRUE(fs_.list("/data")->empty());
  // Metadata is heard of again from its beginning.
  const auto entries = now->braid->statistics().entries_applied;
  now->create(orders);
  EXPECT_EQ(now->braid->statistics().partitions, 0U) << "what metadata said before the deletion brings nothing back";
  now->remove(orders);
  now->run();
  EXPECT_EQ(now->braid->statistics().entries_applied, entries) << "and there was nothing to propose";
  const auto anew = partition_of(9, 0);
  now->create(anew);
  EXPECT_EQ(now->produce({{anew, make_batch({"new"})}})->slices[0].base.value(), 0);
  EXPECT_EQ(now->read_all(anew).size(), 1U);
}

TEST_F(ReplicaTest, WhoWaitsForATopicThatIsDeletedMeanwhileIsTold) {
  life& now = start();
  std::optional<status> heard;
  now.braid->when_applied(orders.topic, 5, std::chrono::seconds(1), [&](status said) { heard = std::move(said); });
  now.metadata_index = 6;
  now.remove(orders);
  now.run();
  ASSERT_TRUE(heard.has_value() && !heard->has_value());
  EXPECT_EQ(heard->error().code, errc::unknown_partition);
}

// The heart of the matter, over many schedules and power cuts: what was acknowledged is there, once, in order.
TEST_F(ReplicaTest, D1_AcknowledgedBatchesSurviveAPowerCutAtAnyStep) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    sim::sim_file_system fs(seed);
    sim::rng chance(seed);
    std::map<std::int32_t, std::int64_t> acknowledged;  // sequence -> offset
    {
      life now(fs, seed, options_);
      now.run();
      now.create(orders);
      fs.crash_after(1 + chance.below(40));
      for (std::int32_t i = 0; i < 30 && !fs.crashed(); ++i) {
        now.braid->produce(
            {{{{orders, make_batch({std::to_string(i)}, idempotent(1, 0, i))}}}, std::chrono::seconds(5)}, [] {},
            [&acknowledged, i](result<unit_outcome> said) {
              if (said && !said->slices[0].error) acknowledged[i] = said->slices[0].base.value();
            });
        for (std::uint64_t steps = chance.below(6); steps > 0 && now.run_one(); --steps) {
        }
      }
      while (!fs.crashed() && now.run_one()) {
      }
    }
    fs.power_cut(chance);
    life after(fs, seed + 1000, options_);
    after.run();
    ASSERT_TRUE(after.braid->statistics().serves) << "seed " << seed;
    if (after.braid->state().partitions().empty()) {
      ASSERT_TRUE(acknowledged.empty()) << "seed " << seed;
      continue;
    }
    const std::vector<bytes> batches = after.read_all(orders);
    ASSERT_GE(batches.size(), acknowledged.size()) << "seed " << seed;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto header = model::check_whole_batch(batches[i]);
      ASSERT_TRUE(header) << "seed " << seed;
      EXPECT_EQ(header->base_offset.value(), static_cast<std::int64_t>(i)) << "seed " << seed;
      EXPECT_EQ(header->base_sequence.value(), static_cast<std::int32_t>(i)) << "seed " << seed;
    }
    for (const auto& [sequence, offset] : acknowledged) {
      EXPECT_EQ(sequence, offset) << "seed " << seed;
      EXPECT_LT(offset, static_cast<std::int64_t>(batches.size())) << "seed " << seed << ": acknowledged and lost";
    }
  }
}

}  // namespace
}  // namespace braidmq::braid

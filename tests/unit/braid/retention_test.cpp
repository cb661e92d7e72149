// Old records go: the leader proposes it, apply does it, and a start comes to the same.
#include "replica_fixture.hpp"

namespace braidmq::braid {
namespace {

class RetentionTest : public ReplicaTest {
 protected:
  RetentionTest() {
    options_.log.segments.bytes = 100;  // a segment for each batch
    options_.retention_interval = std::chrono::minutes(5);
    options_.checkpoint.due_after = std::chrono::seconds(60);
    options_.retention = [](const std::map<std::string, std::string>& configs) {
      retention_policy kept;
      if (const auto ms = configs.find("retention.ms"); ms != configs.end()) kept.keep_ms = std::stoll(ms->second);
      if (const auto size = configs.find("retention.bytes"); size != configs.end()) {
        kept.keep_bytes = std::stoull(size->second);
      }
      return kept;
    };
  }

  static void write(life& now, const model::topic_partition_id& to, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(now.produce({{to, make_batch({"value"}, {}, now.clock.wall_ms())}}));
      now.pass_time(std::chrono::minutes(1));
    }
  }
  static model::offset start_of(life& now, const model::topic_partition_id& id) {
    return now.braid->state().find(id)->start_offset();
  }
  std::size_t segments_of(const model::topic_partition_id& id) {
    std::size_t count = 0;
    const auto names = fs_.list("/data/" + to_string(id)).value();
    for (const std::string& name : names) count += name.ends_with(".log") ? 1 : 0;
    return count;
  }
};

TEST_F(RetentionTest, RecordsGoByTimeAndTheirFilesAfterACheckpoint) {
  life* now = &start();
  now->create(orders, {{"retention.ms", "180000"}});
  now->create(inventory);
  write(*now, orders, 4);
  write(*now, inventory, 1);  // five minutes have passed: the first sweep
  EXPECT_EQ(start_of(*now, orders).value(), 2) << "at minutes 0 to 3, and three minutes are kept";
  EXPECT_EQ(start_of(*now, inventory).value(), 0) << "nothing says that its records go";
  EXPECT_EQ(now->fetch(now->fetch_of(orders, 1)).slices[0].error, errc::offset_out_of_range);
  EXPECT_EQ(now->fetch(now->fetch_of(orders, 2)).slices[0].batches.size(), 2U);
  now->pass_time(std::chrono::minutes(2));
  EXPECT_EQ(segments_of(orders), 2U);
  const hash128 before = now->braid->state().find(orders)->hash();

  now = &start();
  EXPECT_EQ(start_of(*now, orders).value(), 2);
  EXPECT_EQ(now->braid->state().find(orders)->hash(), before);
  now->pass_time(std::chrono::minutes(10));  // each life's clock begins at the same time
  EXPECT_EQ(start_of(*now, orders).value(), 4) << "all of them: the log goes on at its end";
  EXPECT_EQ(now->produce({{orders, make_batch({"new"}, {}, now->clock.wall_ms())}})->slices[0].base.value(), 4);
}

TEST_F(RetentionTest, RecordsGoBySize) {
  life& now = start();
  const std::size_t one = make_batch({"value"}).size();
  now.create(orders, {{"retention.bytes", std::to_string(3 * one)}});
  write(now, orders, 8);
  now.braid->sweep();
  now.run();
  EXPECT_EQ(start_of(now, orders).value(), 5);
}

TEST_F(RetentionTest, SegmentsEndAsTheConfigsOfTheTopicSay) {
  options_.log.segments.bytes = 1U << 20U;
  options_.segments = [](const config_values& configs) {
    const auto set = configs.find("segment.bytes");
    return storage::segment_bounds{.bytes = set == configs.end() ? 1U << 20U : std::stoull(set->second)};
  };
  life* now = &start();
  now->create(orders, {{"segment.bytes", "1"}});
  now->create(inventory);
  write(*now, orders, 3);
  write(*now, inventory, 3);
  EXPECT_EQ(segments_of(orders), 3U);
  EXPECT_EQ(segments_of(inventory), 1U);
  now = &start();
  write(*now, orders, 2);
  EXPECT_EQ(segments_of(orders), 5U) << "as a checkpoint and the log remember it";
}

TEST_F(RetentionTest, AMoveThatWasAppliedIsAppliedAgainAfterAKill) {
  life* now = &start();
  now->create(orders, {{"retention.ms", "1"}});
  write(*now, orders, 2);
  now->pass_time(std::chrono::seconds(1));  // a checkpoint before the move
  now->braid->sweep();
  now->run();
  EXPECT_EQ(start_of(*now, orders).value(), 2);
  now = &start();
  EXPECT_EQ(start_of(*now, orders).value(), 2);
  EXPECT_EQ(now->produce({{orders, make_batch({"new"}, {}, now->clock.wall_ms())}})->slices[0].base.value(), 2);
}

TEST_F(RetentionTest, AFullDiskSweepsAtOnce) {
  life& now = start();
  now.create(orders, {{"retention.ms", "1"}});
  write(now, orders, 2);
  now.braid->set_disk_full(true);
  now.pass_time(std::chrono::seconds(1));
  EXPECT_EQ(start_of(now, orders).value(), 2);
  EXPECT_EQ(segments_of(orders), 0U) << "a checkpoint was asked for, too";
}

// Many topics of one partition, each with two batches of which the first may go. The configs are asked for once of
// each topic that is looked at, so that who answers can count.
class ManyPartitionsTest : public RetentionTest {
 protected:
  static constexpr int topics = 25;
  static constexpr std::size_t looked_at_once = 10;

  ManyPartitionsTest() {
    options_.retention_step = looked_at_once;
    const std::size_t one = make_batch({"value"}).size();
    options_.retention = [this, one](const config_values&) {
      ++looked_at_;
      return retention_policy{{}, one};
    };
  }

  static model::topic_partition_id target(int number) {
    model::topic_partition_id id = partition_of(1, 0);
    id.topic.octets[1] = static_cast<std::uint8_t>(number);
    return id;
  }

  life& start_with_topics() {
    life& now = start();
    topic_news news;
    news.metadata_index = ++now.metadata_index;
    std::vector<append_slice> slices;
    for (int i = 0; i < topics; ++i) {
      news.topics.push_back({target(i).topic, 1, {}, news.metadata_index});
      slices.push_back({target(i), make_batch({"value"})});
    }
    now.braid->follow(std::move(news));
    now.run();
    for (int batch = 0; batch < 2; ++batch) EXPECT_TRUE(now.produce(slices).has_value());
    return now;
  }
  static std::size_t moved(life& now) {
    return static_cast<std::size_t>(std::ranges::count_if(
        now.braid->state().partitions(), [](const auto& one) { return one.second->start_offset().value() == 1; }));
  }

  std::size_t looked_at_ = 0;
};

TEST_F(ManyPartitionsTest, AreLookedAtInStepsWithOtherWorkInBetween) {
  life& now = start_with_topics();
  now.braid->sweep();
  EXPECT_EQ(looked_at_, looked_at_once);
  std::size_t looked_at_when_answered = 0;
  now.braid->produce(
      {{{{target(topics - 1), make_batch({"value"})}}}, std::chrono::seconds(5)}, [] {},
      [&](const result<unit_outcome>&) { looked_at_when_answered = looked_at_; });
  for (std::size_t before = looked_at_; now.run_one(); before = looked_at_) {
    ASSERT_LE(looked_at_ - before, looked_at_once) << "in one task";
  }
  EXPECT_EQ(looked_at_when_answered, looked_at_once) << "in the entry of the first moves";
  EXPECT_EQ(looked_at_, static_cast<std::size_t>(topics)) << "each once";
  EXPECT_EQ(now.braid->statistics().log_starts_moved, static_cast<std::uint64_t>(topics));
  EXPECT_EQ(moved(now), static_cast<std::size_t>(topics - 1)) << "and the last one, which has grown, to 2";
  EXPECT_EQ(start_of(now, target(topics - 1)).value(), 2);
}

// Steps without a find wait for no entry, and each is a task of its own all the same.
TEST_F(ManyPartitionsTest, WithNothingToLetGoOf) {
  life& now = start_with_topics();
  now.braid->sweep();
  now.run();
  looked_at_ = 0;
  now.braid->sweep();
  EXPECT_EQ(looked_at_, looked_at_once);
  now.braid->sweep();
  EXPECT_EQ(looked_at_, looked_at_once) << "the one that is under way goes on";
  std::optional<std::size_t> seen;
  now.shard.post([&] { seen = looked_at_; });
  while (now.run_one_of(now.shard)) {
  }
  EXPECT_EQ(seen, 2 * looked_at_once) << "what was posted meanwhile does not wait for the end";
  EXPECT_EQ(looked_at_, static_cast<std::size_t>(topics));
  EXPECT_EQ(now.braid->statistics().log_starts_moved, static_cast<std::uint64_t>(topics)) << "by the first sweep";
}

TEST_F(ManyPartitionsTest, TopicsThatGoAndComeInBetween) {
  life& now = start_with_topics();
  now.braid->sweep();
  now.remove(target(looked_at_once));  // where it would go on
  now.remove(target(3));
  now.create(target(topics));
  EXPECT_EQ(looked_at_, static_cast<std::size_t>(topics)) << "all but one, and the new one";
  EXPECT_EQ(moved(now), static_cast<std::size_t>(topics - 2));
}

TEST_F(ManyPartitionsTest, ASweepEndsWithTheReplica) {
  life* now = &start_with_topics();
  now->braid->sweep();
  now->braid->stop();
  now->run();
  EXPECT_EQ(looked_at_, looked_at_once);
  // Nor does a task of it outlive the object.
  options_.checkpoint.due_after = std::chrono::hours(1);
  now = &start();
  now->braid->sweep();
  now->run();
  looked_at_ = 0;
  now->braid->sweep();
  now->braid.reset();
  now->run();
  EXPECT_EQ(looked_at_, looked_at_once);
}

TEST_F(ManyPartitionsTest, ASweepEndsWithTheLeadershipAndTheNextLeaderBeginsAnew) {
  life* now = &start_with_topics();
  now->braid->sweep();
  fs_.fail_next(sim::operation::sync_data, "*", io::errc::device_error, 0);
  now->run();
  ASSERT_EQ(now->fatal.size(), 1U);
  EXPECT_FALSE(now->braid->statistics().serves);
  now->braid->sweep();
  EXPECT_EQ(looked_at_, looked_at_once) << "it leads no more";
  fs_.clear_failures();
  now = &start();
  EXPECT_EQ(looked_at_, looked_at_once);
  now->braid->sweep();
  now->run();
  EXPECT_EQ(moved(*now), static_cast<std::size_t>(topics));
}

}  // namespace
}  // namespace braidmq::braid

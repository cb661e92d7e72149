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

}  // namespace
}  // namespace braidmq::braid

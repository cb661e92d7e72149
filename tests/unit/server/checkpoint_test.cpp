// A broker over several lives, whose two logs have been let go of behind its checkpoints.
#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

class BrokerCheckpointTest : public ServerTest {
 protected:
  BrokerCheckpointTest() { options_.checkpoint_interval = std::chrono::seconds(1); }

  // Time for both planes.
  void pass(io::duration by) {
    pass_time(by);
    control_timers_.advance(by);
    run();
  }
  std::uint64_t metadata_checkpoint() {
    const auto reader = multiraft::checkpoint_reader::open(fs_, "/data/checkpoints/metadata", raft::group_id(0));
    return reader && *reader ? (*reader)->id().index.value() : 0;
  }
  protocol::error_code produce(const std::string& topic) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"v"}, {}, clock_.wall_ms())});
    const auto answer = ask<protocol::produce_response>(request, 9);
    return answer ? answer->responses.at(0).partition_responses.at(0).error_code
                  : protocol::error_code::unknown_server_error;
  }
};

TEST_F(BrokerCheckpointTest, ComesBackFromBothCheckpoints) {
  start();
  const auto topic = make_topic("orders", 2, {{"max.message.bytes", "2000"}});
  EXPECT_EQ(produce("orders"), protocol::error_code::none);
  pass(std::chrono::seconds(2));
  EXPECT_GT(metadata_checkpoint(), 2U);
  kill();
  start();
  ASSERT_NE(broker_->image()->find("orders"), nullptr);
  EXPECT_EQ(broker_->image()->find("orders")->id, topic->id);
  const partition::partition* partition = broker_->braid().state().find({topic->id, model::partition_index(0)});
  ASSERT_NE(partition, nullptr);
  EXPECT_EQ(partition->visible_end().value(), 1);
  EXPECT_LE(broker_->braid().statistics().entries_applied, 1U);
  EXPECT_EQ(produce("orders"), protocol::error_code::none);
}

// The image at a checkpoint does not say how it came about: a deletion that the braid has not heard of is still there.
TEST_F(BrokerCheckpointTest, ADeletionReachesTheBraidOverACheckpointAndARestart) {
  start();
  const auto topic = make_topic("orders", 1);
  ASSERT_NE(broker_->braid().state().find_topic(topic->id), nullptr);
  broker_->controller().delete_topic(topic->id, std::chrono::seconds(5), [](const auto&) {});
  // The shard stands still from here on.
  const auto run_control = [this] {
    while (loop_.run_one(control_) || loop_.run_one(disk_)) {
    }
  };
  run_control();
  ASSERT_EQ(broker_->image()->find("orders"), nullptr);
  EXPECT_EQ(broker_->image()->deletions().size(), 1U);
  control_timers_.advance(std::chrono::seconds(2));
  run_control();
  ASSERT_EQ(metadata_checkpoint(), broker_->image()->index());
  // The disk is gone before the shard comes to it.
  fs_.kill_process();
  run();
  EXPECT_FALSE(fatal_.empty());
  kill();

  start();
  EXPECT_EQ(broker_->braid().state().find_topic(topic->id), nullptr);
  EXPECT_TRUE(broker_->image()->deletions().empty()) << "every braid has applied it: it is forgotten";
}

TEST_F(BrokerCheckpointTest, TopicsThatComeAndGoLeaveNothingBehind) {
  start();
  for (int i = 0; i < 20; ++i) {
    const auto topic = make_topic(fmt::format("t{}", i), 1);
    EXPECT_EQ(produce(topic->name), protocol::error_code::none);
    broker_->controller().delete_topic(topic->id, std::chrono::seconds(5), [](const auto&) {});
    run();
    if (i % 7 == 3) {
      kill();
      start();
    }
  }
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(broker_->image()->deletions().empty());
  EXPECT_EQ(broker_->braid().statistics().partitions_being_removed, 0U);
  EXPECT_TRUE(fs_.list("/data/partitions")->empty());
  EXPECT_TRUE(fatal_.empty());
}

}  // namespace
}  // namespace braidmq::server

#include "protocol/generated/list_offsets.hpp"

#include "protocol/generated/produce.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

class ListOffsetsTest : public ServerTest {
 protected:
  void write(std::int64_t timestamp_ms) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = "orders";
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"v"}, {}, timestamp_ms)});
    ASSERT_EQ(ask<protocol::produce_response>(request, 9)->responses[0].partition_responses[0].error_code,
              error_code::none);
  }
  protocol::list_offsets_response::list_offsets_partition_response look(std::int64_t time, std::int16_t version,
                                                                        std::int32_t partition = 0) {
    protocol::list_offsets_request request;
    auto& wanted = request.topics.emplace_back();
    wanted.name = "orders";
    auto& asked = wanted.partitions.emplace_back();
    asked.partition_index = model::partition_index(partition);
    asked.timestamp = time;
    return ask<protocol::list_offsets_response>(request, version)->topics.at(0).partitions.at(0);
  }
};

TEST_F(ListOffsetsTest, SpecialTimesAreServedFromTheirVersionOn) {
  start();
  make_topic("orders", 2);
  const std::int64_t now = clock_.wall_ms();
  write(now);
  write(now + 50);
  write(now + 20);
  struct row {
    std::int64_t time;
    std::int16_t since;
    std::int64_t offset;
    std::int64_t timestamp;
  };
  const row rows[] = {
      {-1, 1, 3, -1},        // latest
      {-2, 1, 0, -1},        // earliest
      {-3, 7, 1, now + 50},  // of the largest timestamp
      {-4, 8, 0, -1},        // earliest that is local
      {-5, 9, -1, -1},       // latest that is tiered: none
      {-6, 11, -1, -1},      // earliest that waits to be tiered: none
      {-7, 12, -1, -1},      // nobody knows
      {now + 1, 1, 1, now + 50},
      {now + 60, 1, -1, -1},
  };
  for (const row& one : rows) {
    for (std::int16_t version = 1; version <= 11; ++version) {
      const auto said = look(one.time, version);
      if (version < one.since) {
        EXPECT_EQ(said.error_code, error_code::unsupported_version) << one.time << " version " << version;
        EXPECT_EQ(said.offset.value(), -1);
        continue;
      }
      EXPECT_EQ(said.error_code, error_code::none) << one.time << " version " << version;
      EXPECT_EQ(said.offset.value(), one.offset) << one.time << " version " << version;
      EXPECT_EQ(said.timestamp, one.timestamp) << one.time << " version " << version;
      EXPECT_EQ(said.leader_epoch.value() >= 0, version >= 4 && one.offset >= 0) << one.time << " version " << version;
    }
  }
}

TEST_F(ListOffsetsTest, AnEmptyPartitionAndAMissingOne) {
  start();
  make_topic("orders", 2);
  EXPECT_EQ(look(-3, 11, 1).offset.value(), -1);
  EXPECT_EQ(look(-4, 11, 1).offset.value(), 0);
  for (const std::int64_t time : {-1, -4, -5}) {
    EXPECT_EQ(look(time, 11, 5).error_code, error_code::unknown_topic_or_partition) << time;
    EXPECT_EQ(look(time, 11, -1).error_code, error_code::unknown_topic_or_partition) << time;
  }
}

}  // namespace
}  // namespace braidmq::server

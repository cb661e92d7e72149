#include "kafka_client/consume.hpp"

#include "unit/kafka_client/log_cluster.hpp"

namespace braidmq::kafka_client {
namespace {

using protocol::error_code;

class ConsumeTest : public ::testing::Test {
 protected:
  ConsumeTest() { log_.cluster.leaders = {{"t", {0}}}; }

  // "partition:offset=value" of all records, or the error.
  result<std::vector<std::string>> read(consume_options options, std::size_t most = 1000) {
    scripted_broker broker{[this](const protocol::request_frame& request) { return log_(request); }};
    log_.cluster.port = broker.at().port;
    client_options to;
    to.bootstrap = {broker.at()};
    BRAID_TRY(with, client::connect(to));
    options.topic = "t";
    BRAID_TRY(reader, consumer::open(*with, options));
    std::vector<std::string> seen;
    const auto take = [&](const incoming_record& one) {
      seen.push_back(fmt::format("{}:{}={}", one.partition, one.offset, as_string_view(*one.record.value)));
      times_.push_back(one.timestamp_ms);
      return seen.size() < most;
    };
    while (true) {
      BRAID_TRY(more, reader.poll(take));
      if (!more) return seen;
    }
  }
  using list = std::vector<std::string>;

  log_cluster log_;
  std::vector<std::int64_t> times_;
};

TEST_F(ConsumeTest, ReadsEveryCodecUpToTheEnd) {
  std::int64_t base = 0;
  for (const auto codec : {model::compression::none, model::compression::gzip, model::compression::snappy,
                           model::compression::lz4, model::compression::zstd}) {
    log_.batches[0].push_back(batch_of(base, {"a", "b"}, {.codec = codec}));
    base += 2;
  }
  log_.ends[0] = 9;  // what came after the question is not read
  const auto seen = read({});
  ASSERT_TRUE(seen) << seen.error().to_string();
  EXPECT_EQ(*seen, (list{"0:0=a", "0:1=b", "0:2=a", "0:3=b", "0:4=a", "0:5=b", "0:6=a", "0:7=b", "0:8=a"}));
  EXPECT_EQ(times_.front(), 1000);
  EXPECT_GT(*log_.fetches, 0);
}

TEST_F(ConsumeTest, BeginsWhereItIsTold) {
  for (int i = 0; i < 4; ++i) log_.batches[0].push_back(batch_of(i * 2, {"a", "b"}));
  log_.ends[0] = 8;
  log_.starts[0] = 2;
  using kind = start_position::kind;
  EXPECT_EQ(read({.from = {kind::earliest}})->front(), "0:2=a");
  EXPECT_EQ(read({.from = {kind::offset, 5}})->front(), "0:5=b") << "in the middle of a batch";
  EXPECT_EQ(read({.from = {kind::offset, 8}})->size(), 0U);
  EXPECT_EQ(read({.from = {kind::time, 1001}})->front(), "0:1=b");
  EXPECT_EQ(read({.from = {kind::time, 9000}})->size(), 0U) << "nothing is that young";
  EXPECT_EQ(read({.from = {kind::latest}})->size(), 0U);
  EXPECT_EQ(read({.from = {kind::earliest}}, 3)->size(), 3U);
  for (const std::int64_t wrong : {1, 9}) {
    const auto refused = read({.from = {kind::offset, wrong}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::invalid_request);
    EXPECT_NE(refused.error().message.find("has offsets 2 up to 8"), std::string::npos) << refused.error().message;
  }
}

TEST_F(ConsumeTest, FollowsWhatComes) {
  log_.batches[0].push_back(batch_of(0, {"a"}));
  log_.batches[0].push_back(batch_of(1, {"late"}));
  log_.ends[0] = 1;
  const auto seen = read({.follow = true}, 2);
  ASSERT_TRUE(seen) << seen.error().to_string();
  EXPECT_EQ(*seen, (list{"0:0=a", "0:1=late"}));
}

TEST_F(ConsumeTest, TakesPartitionsOfSeveralLeadersOrOne) {
  log_.cluster.leaders = {{"t", {0, 1, 0}}};
  for (int p = 0; p < 3; ++p) {
    log_.batches[p] = {batch_of(0, {"x", "y"})};
    log_.ends[p] = 2;
  }
  auto seen = read({});
  ASSERT_TRUE(seen) << seen.error().to_string();
  std::ranges::sort(*seen);
  EXPECT_EQ(*seen, (list{"0:0=x", "0:1=y", "1:0=x", "1:1=y", "2:0=x", "2:1=y"}));
  EXPECT_EQ(*read({.partition = 1}), (list{"1:0=x", "1:1=y"}));
  const auto none = read({.partition = 3});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no partition 3"), std::string::npos);
  log_.cluster.leaders = {{"t", {-1}}};
  EXPECT_EQ(read({}).error().code, errc::refused);
  log_.cluster.leaders = {{"u", {0}}};
  EXPECT_EQ(read({}).error().code, errc::invalid_request);
}

TEST_F(ConsumeTest, LeavesOutControlBatchesAndUsesTheBrokersTime) {
  log_.batches[0] = {batch_of(0, {"a"}, {.timestamps = model::timestamp_type::log_append_time}),
                     batch_of(1, {"marker"}, {.transactional = true, .control = true}), batch_of(2, {"c"})};
  log_.ends[0] = 3;
  EXPECT_EQ(*read({}), (list{"0:0=a", "0:2=c"}));
}

TEST_F(ConsumeTest, RefusesWhatIsDamaged) {
  log_.ends[0] = 2;
  const auto error_of = [&](bytes batch) {
    log_.batches[0] = {std::move(batch)};
    const auto said = read({});
    EXPECT_FALSE(said);
    return said ? std::string() : said.error().to_string();
  };
  const bytes good = batch_of(0, {"a", "b"});
  std::vector<std::byte> damaged(good.view().begin(), good.view().end());
  damaged.back() ^= std::byte{1};
  EXPECT_NE(error_of(bytes::copy_of(byte_view(damaged))).find("CRC"), std::string::npos);
  EXPECT_NE(error_of(bytes::copy_of(std::string(100, '\0'))).find("partition 0 of topic 't'"), std::string::npos);

  log_.batches[0] = {batch_of(0, {std::string(1 << 20, 'z'), "b"}, {.codec = model::compression::zstd})};
  const auto bomb = read({.max_decoded_bytes = 1 << 16});
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().code, errc::bad_answer);

  log_.fetch_error = error_code::not_leader_or_follower;
  EXPECT_EQ(read({}).error().code, errc::refused);
}

TEST_F(ConsumeTest, DoesNotWaitForEverForRecordsThatAreNotThere) {
  log_.ends[0] = 5;
  const auto said = read({});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, errc::timed_out);
  EXPECT_LT(*log_.fetches, 50);
}

}  // namespace
}  // namespace braidmq::kafka_client

#include "kafka_client/produce.hpp"

#include "kafka_client/partitioner.hpp"
#include "model/record_batch.hpp"
#include "scripted_broker.hpp"

namespace braidmq::kafka_client {
namespace {

using protocol::error_code;

class kafka_produce_test : public ::testing::Test {
 protected:
  kafka_produce_test() {
    cluster_.leaders = {{"a", {0}}, {"b", {0, 0, 0}}, {"far", {0, 1}}};
    cluster_.on_produce = [this](const protocol::produce_request& asked, protocol::produce_response& said) {
      const std::scoped_lock lock(mutex_);
      requests_.push_back(asked);
      if (change_) change_(said);
    };
  }

  result<std::vector<written_slice>> write(const std::vector<outgoing_record>& records, produce_options options = {}) {
    // Brokers are all at this port: the answers name it once it is known.
    scripted_broker broker{[this](const protocol::request_frame& request) {
      const std::scoped_lock lock(port_mutex_);
      return cluster_(request);
    }};
    {
      const std::scoped_lock lock(port_mutex_);
      cluster_.port = broker.at().port;
    }
    client_options how;
    how.bootstrap = {broker.at()};
    how.connection.timeout = std::chrono::seconds(5);
    auto made = client::connect(std::move(how));
    if (!made) return tl::unexpected(made.error());
    return produce(**made, records, options);
  }

  small_cluster cluster_;
  std::mutex port_mutex_;
  std::mutex mutex_;
  std::vector<protocol::produce_request> requests_;
  std::function<void(protocol::produce_response&)> change_;
};

TEST_F(kafka_produce_test, OneRequestForAll) {
  const auto written = write({{"a", {}, {}, "1"}, {"b", 2, "k", "2"}, {"a", 0, {}, {}}}, {.atomic = true});
  ASSERT_TRUE(written) << written.error().to_string();
  ASSERT_EQ(written->size(), 2U);
  EXPECT_EQ((*written)[0].topic, "a");
  EXPECT_EQ((*written)[0].records, 2);
  EXPECT_EQ((*written)[0].base, model::offset(100));
  EXPECT_EQ((*written)[1].partition, 2);
  EXPECT_EQ((*written)[1].base, model::offset(102));
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_TRUE(requests_[0].atomic);
  EXPECT_EQ(requests_[0].acks, -1);
  ASSERT_EQ(requests_[0].topic_data.size(), 2U);
  const bytes batch = *requests_[0].topic_data[0].partition_data[0].records;
  EXPECT_EQ(model::parse_batch_header(batch)->last_offset_delta, 1);
  EXPECT_TRUE(model::batch_crc_matches(batch));
}

TEST_F(kafka_produce_test, KeysChooseAsInJava) {
  const auto written = write({{"b", {}, "foobar", "1"}, {"b", {}, {}, "2"}}, {.keyless_choice = 4});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_FALSE(requests_[0].atomic);
  EXPECT_EQ((*written)[0].partition, partition_of_key("foobar", 3));
  EXPECT_EQ(written->back().partition, 1);
}

TEST_F(kafka_produce_test, RefusalsComeBackPerPartition) {
  change_ = [](protocol::produce_response& said) {
    auto& answer = said.responses[0].partition_responses[0];
    answer.error_code = error_code::operation_not_attempted;
    answer.error_message = "why";
  };
  const auto written = write({{"a", {}, {}, "1"}});
  ASSERT_TRUE(written);
  EXPECT_EQ((*written)[0].error, error_code::operation_not_attempted);
  EXPECT_EQ((*written)[0].message, "why");
}

TEST_F(kafka_produce_test, AnswersThatLeaveAPartitionOut) {
  change_ = [](protocol::produce_response& said) { said.responses.clear(); };
  const auto written = write({{"a", {}, {}, "1"}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, errc::bad_answer);
}

TEST_F(kafka_produce_test, SaysWhatIsMissing) {
  const auto refusal = [this](const std::vector<outgoing_record>& records, produce_options options = {}) {
    const auto written = write(records, options);
    EXPECT_FALSE(written);
    return written ? std::string() : written.error().to_string();
  };
  EXPECT_NE(refusal({{"none", {}, {}, "1"}}).find("topic 'none': UNKNOWN_TOPIC_OR_PARTITION"), std::string::npos);
  EXPECT_NE(refusal({{"b", 3, {}, "1"}}).find("no partition 3"), std::string::npos);
  EXPECT_NE(refusal({}).find("nothing to write"), std::string::npos);
  EXPECT_NE(refusal({{"far", 0, {}, "1"}, {"far", 1, {}, "2"}}, {.atomic = true}).find("2 leaders"), std::string::npos);
  cluster_.leaders["a"] = {-1};
  EXPECT_NE(refusal({{"a", {}, {}, "1"}}).find("no leader"), std::string::npos);
  cluster_.has_atomic_produce = false;
  EXPECT_NE(refusal({{"b", {}, {}, "1"}}, {.atomic = true}).find("no atomic write"), std::string::npos);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(kafka_produce_test, OrdinaryWritesGoToEachLeader) {
  const auto written = write({{"far", 0, {}, "1"}, {"far", 1, {}, "2"}});
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(written->size(), 2U);
  EXPECT_EQ(requests_.size(), 2U);
}

}  // namespace
}  // namespace braidmq::kafka_client

#include "kafka_client/client.hpp"

#include "scripted_broker.hpp"

namespace braidmq::kafka_client {
namespace {

client_options options_for(std::vector<io::endpoint> bootstrap) {
  client_options options;
  options.bootstrap = std::move(bootstrap);
  return options;
}

TEST(KafkaClient, TakesTheFirstBrokerThatAnswers) {
  io::endpoint nobody;
  {
    scripted_broker gone{small_cluster{}};
    nobody = gone.at();
  }
  scripted_broker broker{small_cluster{}};
  const auto made = client::connect(options_for({nobody, broker.at()}));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ((*made)->bootstrap().peer(), broker.at());
  EXPECT_EQ(client::connect(options_for({nobody})).error().code, errc::unreachable);
  EXPECT_EQ(client::connect(options_for({})).error().code, errc::invalid_request);
}

TEST(KafkaClient, FindsTopicsInTheOrderAsked) {
  small_cluster cluster;
  cluster.leaders = {{"a", {0}}, {"b", {1, -1}}};
  cluster.port = 9092;
  scripted_broker broker{cluster};
  const auto made = client::connect(options_for({broker.at()}));
  ASSERT_TRUE(made) << made.error().to_string();
  const auto found = (*made)->topics({"b", "none", "a"});
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].name, "b");
  ASSERT_EQ((*found)[0].partitions.size(), 2U);
  EXPECT_EQ((*found)[0].partitions[0].leader, model::broker_id(1));
  EXPECT_EQ((*found)[0].partitions[1].leader, model::broker_id(-1));
  EXPECT_EQ((*found)[1].error, protocol::error_code::unknown_topic_or_partition);
  EXPECT_EQ((*found)[2].name, "a");
  EXPECT_EQ((*made)->broker(model::broker_id(9)).error().code, errc::unreachable);
}

TEST(KafkaClient, ABrokerWithoutAPortIsNone) {
  scripted_broker broker{small_cluster{}};  // its brokers are at port 0
  const auto made = client::connect(options_for({broker.at()}));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ((*made)->topics({"a"}).error().code, errc::bad_answer);
}

TEST(KafkaClient, ReadsAListOfAddresses) {
  EXPECT_EQ(parse_bootstrap("a:1,[::1]:2").value(), (std::vector<io::endpoint>{{"a", 1}, {"::1", 2}}));
  for (const char* wrong : {"", "a", "a:0", ":9092", "a:1,", "a:1,,b:2", "a:99999"}) {
    EXPECT_FALSE(parse_bootstrap(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace braidmq::kafka_client

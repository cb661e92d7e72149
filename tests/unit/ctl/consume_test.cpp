#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "ctl/output.hpp"
#include "ctl_fixture.hpp"
#include "unit/kafka_client/log_cluster.hpp"

namespace braidmq::ctl {
namespace {

using ::testing::HasSubstr;

class consume_command : public ctl_test {
 protected:
  consume_command() {
    const std::string binary("\xff\x00z", 3);
    model::batch_builder builder;
    const std::vector<model::record_header_view> headers{{"trace", as_byte_view("7")}, {"none", std::nullopt}};
    builder.add({1'700'000'000'123, as_byte_view("key"), as_byte_view("line\nbreak"), headers});
    builder.add({-1, std::nullopt, as_byte_view(binary), {}});
    builder.add({1'700'000'000'125, as_byte_view("gone"), std::nullopt, {}});
    log_.cluster.leaders = {{"t", {0}}};
    log_.batches[0] = {*builder.build()};
    log_.ends[0] = 3;
  }

  int run(std::optional<std::uint64_t> max = std::nullopt, const std::string& topic = "t") {
    kafka_client::scripted_broker broker{[this](const protocol::request_frame& request) { return log_(request); }};
    log_.cluster.port = broker.at().port;
    consume_arguments wanted{broker.at().to_string(), {}, max};
    wanted.what.topic = topic;
    return consume(with_, wanted);
  }

  kafka_client::log_cluster log_;
};

TEST_F(consume_command, prints_a_line_for_each_record) {
  EXPECT_EQ(run(), exit_good) << err_.str();
  EXPECT_EQ(out_.str(),
            "0:0  2023-11-14T22:13:20.123Z  key  line\\x0abreak  trace=7  none=null\n"
            "0:1  -  null  \\xff\\x00z\n"
            "0:2  2023-11-14T22:13:20.125Z  gone  null\n");
}

TEST_F(consume_command, as_json_keeps_every_byte) {
  with_.as = format::json;
  EXPECT_EQ(run(), exit_good) << err_.str();
  std::istringstream lines(out_.str());
  std::vector<nlohmann::json> documents;
  for (std::string line; std::getline(lines, line);) documents.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0], nlohmann::json::parse(R"({"topic": "t", "partition": 0, "offset": 0,
      "timestamp": 1700000000123, "key": "key", "value": "line\nbreak",
      "headers": [{"key": "trace", "value": "7"}, {"key": "none", "value": null}]})"));
  EXPECT_EQ(documents[1], nlohmann::json::parse(R"({"topic": "t", "partition": 0, "offset": 1, "timestamp": -1,
      "key": null, "valueBase64": "/wB6", "headers": []})"));
  EXPECT_TRUE(documents[2]["value"].is_null());
}

TEST_F(consume_command, ends_after_max) {
  EXPECT_EQ(run(2), exit_good);
  EXPECT_THAT(out_.str(), HasSubstr("0:1  "));
  EXPECT_THAT(out_.str(), Not(HasSubstr("0:2  ")));
  EXPECT_EQ(run(0), exit_good);
}

TEST_F(consume_command, says_in_words_what_is_wrong) {
  EXPECT_EQ(run({}, "absent"), exit_refused);
  EXPECT_THAT(err_.str(), HasSubstr("topic 'absent': UNKNOWN_TOPIC_OR_PARTITION"));
  consume_arguments nowhere{"127.0.0.1:1", {}, {}};
  EXPECT_EQ(consume(with_, nowhere), exit_refused);
  EXPECT_THAT(err_.str(), HasSubstr("not reachable"));
  EXPECT_EQ(consume(with_, {"nonsense", {}, {}}), exit_refused);
}

TEST(output, base64_is_that_of_rfc_4648) {
  const std::pair<const char*, const char*> rows[] = {{"", ""},
                                                      {"f", "Zg=="},
                                                      {"fo", "Zm8="},
                                                      {"foo", "Zm9v"},
                                                      {"foob", "Zm9vYg=="},
                                                      {"fooba", "Zm9vYmE="},
                                                      {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : rows) EXPECT_EQ(base64(plain), encoded);
}

TEST(output, times_beyond_the_calendar_are_numbers) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(-2), "1969-12-31T23:59:59.998Z");
  EXPECT_EQ(time_text(253'402'300'799'999), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(253'402'300'800'000), "253402300800000");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

}  // namespace
}  // namespace braidmq::ctl

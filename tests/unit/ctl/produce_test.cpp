#include <nlohmann/json.hpp>

#include "ctl_fixture.hpp"
#include "kafka_client/errc.hpp"

namespace braidmq::ctl {
namespace {

using kafka_client::written_slice;
using protocol::error_code;

class produce_command : public ctl_test {
 protected:
  produce_command() {
    with_.write = [this](const std::string& bootstrap, const std::vector<kafka_client::outgoing_record>& records,
                         bool atomic) -> result<std::vector<written_slice>> {
      asked_ = {bootstrap, records, {}, atomic};
      if (failure_) return tl::unexpected(*failure_);
      return slices_;
    };
  }

  produce_order asked_;
  std::optional<error> failure_;
  std::vector<written_slice> slices_{{"a", 0, 2, error_code::none, "", model::offset(7)},
                                     {"b", 3, 1, error_code::none, "", model::offset(0)}};
};

produce_order order(bool atomic = true) {
  return {.bootstrap = "h:1", .records = {{"a", {}, {}, "x"}}, .file = {}, .atomic = atomic};
}

TEST_F(produce_command, shows_where_records_are) {
  EXPECT_EQ(produce(with_, order()), exit_good);
  EXPECT_EQ(asked_.bootstrap, "h:1");
  EXPECT_TRUE(asked_.atomic);
  EXPECT_EQ(out_.str(),
            "TOPIC  PARTITION  RECORDS  OFFSET  RESULT\n"
            "a      0          2        7       written\n"
            "b      3          1        0       written\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(produce_command, speaks_json) {
  with_.as = format::json;
  slices_[1].error = error_code::invalid_topic_exception;
  slices_[1].message = "why";
  EXPECT_EQ(produce(with_, order()), exit_refused);
  const auto said = nlohmann::json::parse(out_.str());
  EXPECT_EQ(said[0], (nlohmann::json{{"topic", "a"}, {"partition", 0}, {"records", 2}, {"offset", 7}}));
  EXPECT_EQ(said[1]["error"], "INVALID_TOPIC_EXCEPTION");
  EXPECT_EQ(said[1]["message"], "why");
}

TEST_F(produce_command, names_the_culprit) {
  for (written_slice& one : slices_) {
    one.error = error_code::operation_not_attempted;
    one.base = model::offset(-1);
    one.message = "because of b";
  }
  EXPECT_EQ(produce(with_, order()), exit_refused);
  EXPECT_EQ(err_.str(), "braidctl: because of b\nbraidctl: nothing was written\n");
  err_.str("");
  slices_[1].error = error_code::invalid_record;
  slices_[1].message = "bad \x1b[31m";
  EXPECT_EQ(produce(with_, order()), exit_refused);
  EXPECT_EQ(err_.str(), "braidctl: partition 3 of 'b': INVALID_RECORD: bad \\x1b[31m\nbraidctl: nothing was written\n");
}

TEST_F(produce_command, does_not_say_nothing_when_that_is_not_known) {
  for (written_slice& one : slices_) one.error = error_code::request_timed_out;
  EXPECT_EQ(produce(with_, order()), exit_refused);
  EXPECT_EQ(err_.str().find("nothing was written"), std::string::npos);
  EXPECT_NE(err_.str().find("whole or not at all"), std::string::npos);
  err_.str("");
  slices_[0].error = error_code::none;
  EXPECT_EQ(produce(with_, order(false)), exit_refused);
  EXPECT_EQ(err_.str().find("whole"), std::string::npos) << "an ordinary write may be written in part";
}

TEST_F(produce_command, reads_records_from_standard_input) {
  std::istringstream in("a\t\tone\nb\tk\ttwo\n");
  context with{.out = out_, .err = err_, .connect = nullptr, .sleep = nullptr, .in = in, .write = with_.write};
  EXPECT_EQ(produce(with, {.bootstrap = "h:1", .records = {{"c", 1, {}, "0"}}, .file = "-"}), exit_good);
  ASSERT_EQ(asked_.records.size(), 3U);
  EXPECT_EQ(asked_.records[1].topic, "a");
  EXPECT_EQ(asked_.records[2].key, "k");
  EXPECT_FALSE(asked_.atomic);
}

TEST_F(produce_command, refuses_lines_by_their_number) {
  std::istringstream bad("a\tk\tone\nb two\n");
  const auto read = read_records(bad, "-");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message.find("-:2: "), 0U) << read.error().message;
  std::istringstream empty;
  EXPECT_FALSE(read_records(empty, "-"));
  EXPECT_EQ(produce(with_, {.bootstrap = "h:1", .records = {}, .file = "/does/not/exist"}), exit_refused);
  EXPECT_NE(err_.str().find("/does/not/exist"), std::string::npos);
}

TEST_F(produce_command, says_what_went_wrong_before) {
  failure_ = error{make_error_code(kafka_client::errc::unreachable), "h:1"};
  EXPECT_EQ(produce(with_, order()), exit_refused);
  EXPECT_EQ(err_.str(), "braidctl: h:1: broker not reachable\n");
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace braidmq::ctl

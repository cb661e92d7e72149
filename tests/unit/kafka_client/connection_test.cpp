#include "kafka_client/connection.hpp"

#include "scripted_broker.hpp"

namespace braidmq::kafka_client {
namespace {

using namespace std::chrono_literals;

scripted_answer framed(std::int32_t length, std::string_view rest, bool keeps_open = true) {
  byte_buffer out;
  out.append_be(length);
  out.append(rest);
  return {out.freeze(), keeps_open};
}

connection_options quick() {
  connection_options options;
  options.timeout = 200ms;
  return options;
}

TEST(KafkaConnection, LearnsVersionsAndFeatures) {
  scripted_broker broker{small_cluster{}};
  const auto made = connection::open(broker.at(), {});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->version_for(0).value(), 13);
  EXPECT_EQ(made->version_for(0, 12, 9).value(), 12);
  EXPECT_EQ(made->finalized_level("braidmq.atomic.produce"), 1);
  EXPECT_EQ(made->finalized_level("something.else"), 0);
  const auto unknown = made->version_for(1);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::unsupported);
  EXPECT_NE(unknown.error().message.find("does not know Fetch"), std::string::npos) << unknown.error().message;
  EXPECT_FALSE(made->version_for(0, 2));
}

TEST(KafkaConnection, ABrokerThatKnowsLessAnswersInVersion0) {
  scripted_broker broker{[](const protocol::request_frame& request) {
    protocol::api_versions_response said;
    said.error_code = protocol::error_code::unsupported_version;
    said.api_keys = {{0, 3, 9}};
    byte_buffer frame;
    EXPECT_TRUE(protocol::encode_response_frame(frame, said, 0, request.header.correlation_id));
    return scripted_answer{frame.freeze()};
  }};
  const auto made = connection::open(broker.at(), {});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->version_for(0).value(), 9);
}

TEST(KafkaConnection, WhatIsNoAnswerIsRefused) {
  struct row {
    const char* name;
    scripted_answer said;
  };
  const std::vector<row> rows = {
      {"too large", framed(0x7fffffff, "")},
      {"negative", framed(-1, "")},
      {"no correlation id", framed(2, "ab")},
      {"another correlation id", framed(6, std::string_view("\0\0\0\x09\0\0", 6))},
      {"garbage", framed(12, std::string_view("\0\0\0\x01\0\0\xff\xff\xff\xff\xff\xff", 12))},
      {"an empty body", framed(4, std::string_view("\0\0\0\x01", 4))},
  };
  for (const row& one : rows) {
    scripted_broker broker{[&one](const protocol::request_frame&) { return one.said; }};
    const auto made = connection::open(broker.at(), {});
    ASSERT_FALSE(made) << one.name;
    EXPECT_EQ(made.error().code, errc::bad_answer) << one.name << ": " << made.error().to_string();
  }
}

TEST(KafkaConnection, WaitsNoLongerThanItsTime) {
  scripted_broker silent{[](const protocol::request_frame&) { return scripted_answer{}; }};
  const io::time_point began = io::system_clock().now();
  const auto made = connection::open(silent.at(), quick());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::timed_out) << made.error().to_string();
  EXPECT_GE(io::system_clock().now() - began, 200ms);
}

TEST(KafkaConnection, AnEndInMidAnswerIsNoAnswer) {
  scripted_broker broker{[](const protocol::request_frame&) { return framed(1000, "abc", false); }};
  const auto made = connection::open(broker.at(), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::timed_out) << made.error().to_string();
}

TEST(KafkaConnection, NobodyThere) {
  io::endpoint nobody;
  {
    scripted_broker gone{small_cluster{}};
    nobody = gone.at();
  }
  const auto made = connection::open(nobody, quick());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unreachable) << made.error().to_string();
  const auto nameless = connection::open({"name.invalid", 9092}, quick());
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().code, errc::unreachable);
}

TEST(KafkaConnection, ARefusalInWords) {
  scripted_broker broker{[](const protocol::request_frame& request) {
    protocol::api_versions_response said;
    said.error_code = protocol::error_code::rebootstrap_required;
    return answer_with(request, said);
  }};
  const auto made = connection::open(broker.at(), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::refused);
  EXPECT_NE(made.error().message.find("REBOOTSTRAP_REQUIRED"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace braidmq::kafka_client

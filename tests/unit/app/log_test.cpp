#include "app/log.hpp"

#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace braidmq::app {
namespace {

std::string log_line(std::unique_ptr<spdlog::formatter> form, const std::string& message) {
  std::ostringstream out;
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(out);
  spdlog::logger logger("test", sink);
  logger.set_formatter(std::move(form));
  logger.warn("{}", message);
  return out.str();
}

TEST(log, a_json_line_reads_back_as_what_was_logged) {
  const std::string message = "client \"x\\y\"\n\r\t\x01\x1b[31m \u00e4\u20ac\U0001f600 %n {}";
  const auto line = log_line(json_formatter(), message);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  const auto parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["message"], message);
  EXPECT_EQ(parsed["level"], "warning");
  EXPECT_EQ(parsed["time"].get<std::string>().size(), 24U);
}

TEST(log, json_of_any_bytes_is_json_in_one_line) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string message(random() % 60, '\0');
    for (auto& c : message) c = static_cast<char>(random());
    const auto line = log_line(json_formatter(), message);
    ASSERT_EQ(line.find('\n'), line.size() - 1);
    ASSERT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

TEST(log, a_text_line_cannot_be_forged) {
  const auto line = log_line(text_formatter(), "id\r\n2026-01-01T00:00:00.000Z error forged \x1b[2J \xc2\x9b \xff end");
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  EXPECT_NE(line.find("id\\r\\n2026"), std::string::npos) << line;
  EXPECT_NE(line.find("\\x1b[2J"), std::string::npos) << line;
  EXPECT_NE(line.find("\\xc2\\x9b"), std::string::npos) << line;
  EXPECT_NE(line.find("\\xff end"), std::string::npos) << line;
}

TEST(log, escape_json_refuses_what_is_not_utf8) {
  EXPECT_EQ(escape_json("\xc0\xaf"), "\\ufffd\\ufffd");                // overlong
  EXPECT_EQ(escape_json("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd");     // surrogate
  EXPECT_EQ(escape_json("\xf4\x90\x80\x80").substr(0, 6), "\\ufffd");  // above U+10FFFF
  EXPECT_EQ(escape_json("\xe2\x82"), "\\ufffd\\ufffd");                // cut off
  EXPECT_EQ(escape_json("a\x7f"), "a\\u007f");
  EXPECT_EQ(escape_line("quotes \" stay"), "quotes \" stay");
}

TEST(log, levels_are_set_by_name) {
  set_up_log("warn", "text");
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::warn);
  set_up_log("off", "json");
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::off);
  set_up_log("error", "json");
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::err);
}

}  // namespace
}  // namespace braidmq::app

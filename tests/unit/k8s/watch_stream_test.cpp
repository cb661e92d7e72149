#include "k8s/watch_stream.hpp"

#include <gtest/gtest.h>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

TEST(watch_stream_test, lines_are_the_same_however_they_are_cut) {
  const std::string text = "one\n\ntwo\nthree\n\n\nfour";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    line_splitter lines;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < text.size(); at += size) {
      ASSERT_TRUE(lines.feed(std::string_view(text).substr(at, size), [&](std::string_view line) {
        got.emplace_back(line);
        return true;
      }));
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "two", "three"})) << size;
    EXPECT_EQ(lines.partial_bytes(), 4U);
  }
}

TEST(watch_stream_test, a_line_over_the_limit_is_refused_before_it_is_kept) {
  line_splitter lines(10);
  const auto ignore = [](std::string_view) { return true; };
  EXPECT_TRUE(lines.feed("0123456789\n", ignore));
  EXPECT_TRUE(lines.feed("01234", ignore));
  EXPECT_FALSE(lines.feed("678901", ignore));
  EXPECT_LE(lines.partial_bytes(), 10U);
  line_splitter whole(10);
  EXPECT_FALSE(whole.feed("0123456789x\n", ignore));
}

TEST(watch_stream_test, a_reader_that_has_enough_gets_no_more) {
  line_splitter lines;
  int count = 0;
  const auto fed = lines.feed("a\nb\nc\n", [&](std::string_view) { return ++count < 2; });
  ASSERT_TRUE(fed);
  EXPECT_FALSE(*fed);
  EXPECT_EQ(count, 2);
}

TEST(watch_stream_test, events) {
  const auto event = decode_watch_event(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, "ADDED");
  EXPECT_EQ(name_of(event->object), "a");
  for (const char* bad :
       {"", "x", "[]", "{}", R"({"type":7,"object":{}})", R"({"type":"OTHER","object":{}})", R"({"type":"ADDED"})",
        R"({"type":"ADDED","object":7})", R"({"type":"ADDED","object":{}}x)"}) {
    const auto got = decode_watch_event(bad);
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().code, make_error_code(errc::bad_response));
  }
}

}  // namespace
}  // namespace braidmq::k8s

#include "k8s/event_writer.hpp"

#include <gtest/gtest.h>

#include "support/k8s/atomic_clock.hpp"
#include "support/k8s/fake_client.hpp"

namespace braidmq::k8s::testing {
namespace {

using namespace std::chrono_literals;

const resource_type events{"events.k8s.io", "v1", "Event", "events"};

class event_writer_test : public ::testing::Test {
 protected:
  void record(const std::string& note = "words", const std::string& reason = "Created") {
    writer.record(topic, event_type::normal, reason, "Create", note);
  }

  atomic_clock clock;
  fake_client api{clock};
  event_writer writer{api, {.controller = "example.io/op", .instance = "op-0"}, clock};
  const object_reference topic{"example.io/v1", "Thing", {"n", "a"}, "u-a", "7"};
};

TEST_F(event_writer_test, an_event_as_the_api_wants_it) {
  record();
  writer.write_due();
  const auto all = api.read_all(events);
  ASSERT_EQ(all.size(), 1U);
  const json& one = all[0];
  EXPECT_EQ(namespace_of(one), "n");
  EXPECT_EQ(name_of(one).substr(0, 2), "a.");
  EXPECT_EQ(one["type"], "Normal");
  EXPECT_EQ(one["reason"], "Created");
  EXPECT_EQ(one["action"], "Create");
  EXPECT_EQ(one["note"], "words");
  EXPECT_EQ(one["reportingController"], "example.io/op");
  EXPECT_EQ(one["reportingInstance"], "op-0");
  EXPECT_EQ(one["eventTime"].get<std::string>().size(), 27U);
  EXPECT_EQ(one["regarding"], (json{{"apiVersion", "example.io/v1"},
                                    {"kind", "Thing"},
                                    {"namespace", "n"},
                                    {"name", "a"},
                                    {"uid", "u-a"},
                                    {"resourceVersion", "7"}}));
}

TEST_F(event_writer_test, identical_ones_within_5_minutes_are_one_event_and_a_count) {
  for (int i = 0; i < 50; ++i) {
    record();
    writer.write_due();
    clock.advance(5s);
  }
  EXPECT_EQ(api.writes().size(), 1U);
  record("other words");
  clock.advance(50s);
  writer.write_due();
  ASSERT_EQ(api.writes().size(), 3U);  // the other one, and the count of the first
  const json first = *api.read(events, api.writes()[0].key);
  EXPECT_EQ(first["series"]["count"], 50);
  EXPECT_EQ(first["series"]["lastObservedTime"].get<std::string>().size(), 27U);
  clock.advance(1h);
  writer.write_due();
  EXPECT_EQ(api.writes().size(), 3U);
  record();  // long after: an event of its own
  writer.write_due();
  EXPECT_EQ(api.read_all(events).size(), 3U);
}

TEST_F(event_writer_test, notes_are_cut_at_1024_bytes_on_a_character) {
  std::string note(1023, 'x');
  note += "\xC3\xA9\xC3\xA9";
  record(note);
  writer.write_due();
  EXPECT_EQ(api.read_all(events).at(0)["note"], std::string(1023, 'x'));
  EXPECT_EQ(cut_text("\xE2\x82\xAC", 2), "");
  EXPECT_EQ(cut_text("ab", 2), "ab");
}

TEST_F(event_writer_test, what_does_not_fit_is_counted_and_dropped) {
  for (int i = 0; i < 1100; ++i) record("note " + std::to_string(i));
  const auto figures = writer.read_figures();
  EXPECT_EQ(figures.queued, 1000U);
  EXPECT_EQ(figures.dropped, 100U);
}

TEST_F(event_writer_test, a_refused_event_is_forgotten_and_the_next_one_tried) {
  api.fail_next("create", "events", {errc::forbidden, "terminating"});
  record();
  writer.write_due();
  EXPECT_EQ(writer.read_figures().failed, 1U);
  record();
  writer.write_due();
  EXPECT_EQ(api.read_all(events).size(), 1U);
}

TEST_F(event_writer_test, kinds_without_namespaces_tell_theirs_in_default) {
  writer.record({"v1", "Node", {"", "node-1"}, "", ""}, event_type::warning, "R", "A", "n");
  writer.write_due();
  EXPECT_EQ(namespace_of(api.read_all(events).at(0)), "default");
}

TEST_F(event_writer_test, stop_writes_what_waits) {
  writer.start();
  record();
  record();
  writer.stop();
  ASSERT_EQ(api.read_all(events).size(), 1U);
  EXPECT_EQ(api.read_all(events)[0]["series"]["count"], 2);
}

TEST_F(event_writer_test, stop_does_not_wait_for_a_server_that_is_away) {
  for (int i = 0; i < 100; ++i) record("note " + std::to_string(i));
  api.fail_next("create", "events", {errc::network, "away"}, 1000);
  writer.stop();
  writer.write_all();
  EXPECT_EQ(writer.read_figures().failed, 1U);
  EXPECT_EQ(writer.read_figures().dropped, 99U);
}

}  // namespace
}  // namespace braidmq::k8s::testing

// operators.md 4.2: what an informer makes of lists and watches, on an API in memory.
#include "k8s/informer.hpp"

#include <condition_variable>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/k8s/atomic_clock.hpp"
#include "support/k8s/fake_client.hpp"
#include "unit/k8s/things.hpp"

namespace braidmq::k8s::testing {
namespace {

using namespace std::chrono_literals;

struct thing_row : row_header {
  std::int64_t value = 0;
};

class informer_test : public ::testing::Test {
 protected:
  informer_test() {
    options.type = things;
    options.namespace_name = "n";
    options.timing.backoff_min = 1ms;
    options.timing.backoff_max = 2ms;
  }
  ~informer_test() override {
    if (watched) watched->stop();
  }

  static thing_row convert(const json& object) {
    EXPECT_FALSE(object.at("metadata").contains("managedFields"));
    if (object.at("spec").at("value") == 666) throw std::runtime_error("unreadable");
    thing_row row;
    row.value = object.at("spec").at("value").get<std::int64_t>();
    return row;
  }
  static json thing(const std::string& name, std::int64_t value, const std::string& label = "x") {
    return {{"metadata",
             {{"name", name}, {"namespace", "n"}, {"labels", {{"l", label}}}, {"managedFields", json::array({1})}}},
            {"spec", {{"value", value}}}};
  }
  void start() {
    watched = std::make_unique<informer<thing_row>>(api, options, convert, clock);
    watched->on_change([this](const auto& before, const auto& after) {
      const std::lock_guard lock(mutex);
      told.push_back((before ? before->key.name + std::to_string(before->value) : "-") + ">" +
                     (after ? after->key.name + std::to_string(after->value) : "-"));
      changed.notify_all();
    });
    watched->start();
  }
  // Waits for that many changes and returns them all.
  std::vector<std::string> changes(std::size_t count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, 10s, [&] { return told.size() >= count; }));
    return told;
  }
  void wait_until(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    const auto until = io::system_clock().now() + 10s;
    while (!condition() && io::system_clock().now() < until) changed.wait_for(lock, 2ms);
    EXPECT_TRUE(condition());
  }

  atomic_clock clock;
  fake_client api{clock};
  reflector_options options;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> told;
  std::unique_ptr<informer<thing_row>> watched;
};

TEST_F(informer_test, lists_in_pages_and_follows) {
  for (int i = 0; i < 5; ++i) api.put(things, thing("t" + std::to_string(i), i));
  options.page_size = 2;
  start();
  EXPECT_EQ(changes(5).size(), 5U);
  EXPECT_EQ(api.reads(), 3U);
  wait_until([&] { return watched->has_synced(); });
  api.put(things, thing("t0", 10));
  api.erase(things, {"n", "t1"});
  api.put(things, thing("new", 7));
  const auto seen = changes(8);
  EXPECT_EQ(std::vector(seen.begin() + 5, seen.end()), (std::vector<std::string>{"t00>t010", "t11>-", "->new7"}));
  EXPECT_EQ(watched->rows().size(), 5U);
  const auto row = watched->rows().find({"n", "t0"});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->value, 10);
  EXPECT_FALSE(row->uid.empty());
  EXPECT_EQ(row->resource_version, resource_version_of(*api.read(things, {"n", "t0"})));
}

TEST_F(informer_test, a_list_after_410_tells_what_vanished_and_keeps_the_rows_that_did_not_change) {
  api.put(things, thing("kept", 1));
  api.put(things, thing("gone", 2));
  api.put(things, thing("other", 3));
  start();
  (void)changes(3);
  const auto kept = watched->rows().find({"n", "kept"});
  // While nobody watches: gone, made anew under the same name, and new.
  api.fail_next("watch", "things", {errc::network, "away"}, 2);
  api.break_watches();
  api.erase(things, {"n", "gone"});
  api.erase(things, {"n", "other"});
  api.put(things, thing("other", 4));
  api.put(things, thing("new", 5));
  api.compact();
  wait_until([&] { return watched->rows().find({"n", "new"}) != nullptr; });
  const auto row = watched->rows().find({"n", "other"});
  EXPECT_EQ(row->value, 4);
  EXPECT_EQ(watched->rows().find({"n", "gone"}), nullptr);
  EXPECT_EQ(watched->rows().find({"n", "kept"}), kept);
  const auto seen = changes(7);
  EXPECT_NE(std::find(seen.begin(), seen.end(), "gone2>-"), seen.end());
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "kept1>kept1"), 0);
}

TEST_F(informer_test, selectors_reach_the_server) {
  options.label_selector = "l=x";
  options.field_selector = "metadata.name=a";
  api.put(things, thing("a", 1));
  api.put(things, thing("b", 2));
  start();
  EXPECT_EQ(changes(1), (std::vector<std::string>{"->a1"}));
  api.put(things, thing("a", 1, "y"));  // the label is taken away: for us it is gone
  EXPECT_EQ(changes(2)[1], "a1>-");
}

TEST_F(informer_test, bookmarks_move_the_version_and_nothing_else) {
  api.put(things, thing("a", 1));
  start();
  (void)changes(1);
  wait_until([&] { return watched->has_synced(); });
  const auto events = watched->read_figures().events;
  api.send_bookmarks();
  wait_until([&] { return watched->read_figures().events > events; });
  EXPECT_EQ(changes(1).size(), 1U);
}

TEST_F(informer_test, an_object_that_cannot_be_read_is_counted_and_its_old_row_stays) {
  api.put(things, thing("a", 1));
  start();
  (void)changes(1);
  api.put(things, thing("a", 666));
  api.put(things, thing("b", 2));
  (void)changes(2);
  EXPECT_EQ(watched->rows_refused(), 1U);
  EXPECT_EQ(watched->rows().find({"n", "a"})->value, 1);
}

TEST_F(informer_test, metadata_only) {
  options.metadata_only = true;
  api.put(things, thing("a", 1));
  informer<row_header> headers(api, options, [](const json& object) {
    EXPECT_FALSE(object.contains("spec"));
    return row_header{};
  });
  stop_signal stop;
  headers.on_change([&](const auto&, const auto&) { stop.raise(); });
  headers.run(stop);
  EXPECT_EQ(headers.rows().size(), 1U);
}

// Failures of the server are steps too: only what hangs is stuck.
TEST_F(informer_test, liveness_tells_a_hang_from_a_server_that_is_away) {
  start();
  wait_until([&] { return watched->has_synced(); });
  clock.advance(2 * 290s);
  EXPECT_EQ(watched->stuck(), std::nullopt);
  clock.advance(1s);
  ASSERT_TRUE(watched->stuck());
  EXPECT_EQ(*watched->stuck(), "the watch of things has been silent for 581 s");
  api.fail_next("watch", "things", {errc::network, "away"}, 5);
  api.break_watches();
  wait_until([&] { return !watched->stuck(); });
  EXPECT_GT(watched->read_figures().since_last_event, 2 * 290s);
}

TEST_F(informer_test, has_not_synced_before_a_whole_list) {
  api.put(things, thing("a", 1));
  api.fail_next("list", "things", {errc::forbidden, "no right to list"}, 3);
  start();
  (void)changes(1);
  EXPECT_TRUE(watched->has_synced() || watched->read_figures().lists <= 1);
  wait_until([&] { return watched->has_synced(); });
  EXPECT_EQ(watched->read_figures().lists, 1U);
}

}  // namespace
}  // namespace braidmq::k8s::testing

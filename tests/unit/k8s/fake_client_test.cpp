// The fake has to be right where reconcilers rely on it.
#include "support/k8s/fake_client.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/manual_timers.hpp"
#include "unit/k8s/things.hpp"

namespace braidmq::k8s::testing {
namespace {

class fake_client_test : public ::testing::Test {
 protected:
  static json thing(const std::string& name, json spec) {
    return {{"apiVersion", "example.io/v1"},
            {"kind", "Thing"},
            {"metadata", {{"name", name}, {"namespace", "n"}}},
            {"spec", std::move(spec)}};
  }
  json must(result<json> got) {
    EXPECT_TRUE(got.has_value()) << got.error().to_string();
    return got ? *got : json::object();
  }
  static errc code_of(const error& e) { return static_cast<errc>(e.code.value()); }

  static json listeners(const char* name, int port) {
    return {{"listeners", json::array({{{"name", name}, {"port", port}}})}};
  }

  sim::manual_clock clock;
  fake_client api{clock};
  const apply_options mine{.field_manager = "op"};
  const object_key a{"n", "a"};
};

TEST_F(fake_client_test, create_get_conflict_delete) {
  const json made = must(api.create(things, thing("a", {{"x", 1}}), "op"));
  EXPECT_EQ(generation_of(made), 1);
  EXPECT_FALSE(uid_of(made).empty());
  EXPECT_EQ(code_of(api.create(things, thing("a", {}), "op").error()), errc::already_exists);
  EXPECT_EQ(must(api.get(things, a)), made);
  EXPECT_EQ(code_of(api.remove(things, a, {.uid = "another"}).error()), errc::conflict);
  EXPECT_TRUE(api.remove(things, a, {.uid = std::string(uid_of(made))}));
  EXPECT_EQ(code_of(api.get(things, a).error()), errc::not_found);
  EXPECT_TRUE(api.remove(things, a, {}));
}

TEST_F(fake_client_test, apply_of_the_same_changes_nothing_and_of_less_removes_what_was_mine) {
  const json first = must(api.apply(things, thing("a", {{"x", 1}, {"y", {{"z", 2}}}}), mine));
  const json again = must(api.apply(things, thing("a", {{"x", 1}, {"y", {{"z", 2}}}}), mine));
  EXPECT_EQ(resource_version_of(first), resource_version_of(again));
  const json less = must(api.apply(things, thing("a", {{"x", 1}}), mine));
  EXPECT_EQ(less["spec"], (json{{"x", 1}}));
  EXPECT_EQ(generation_of(less), 2);
}

TEST_F(fake_client_test, fields_of_others_stay_and_conflicts_name_them) {
  (void)must(api.apply(things, thing("a", {{"x", 1}}), mine));
  (void)must(api.apply(things, thing("a", {{"theirs", 7}}), {.field_manager = "hpa"}));
  EXPECT_EQ(must(api.apply(things, thing("a", {{"x", 2}}), mine))["spec"], (json{{"x", 2}, {"theirs", 7}}));
  const auto refused = api.apply(things, thing("a", {{"theirs", 8}}), {.field_manager = "op", .force = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(code_of(refused.error()), errc::conflict);
  EXPECT_NE(refused.error().message.find("\"hpa\": .spec.theirs"), std::string::npos) << refused.error().message;
  EXPECT_EQ(must(api.apply(things, thing("a", {{"theirs", 8}}), mine))["spec"], (json{{"theirs", 8}}));
}

TEST_F(fake_client_test, lists_merge_by_their_keys) {
  api.merge_list_by("listeners", {"name"});
  (void)must(api.apply(things, thing("a", listeners("one", 1)), {.field_manager = "x"}));
  const json both = must(api.apply(things, thing("a", listeners("two", 2)), mine));
  EXPECT_EQ(both["spec"]["listeners"].size(), 2U);
  const json one = must(api.apply(things, thing("a", json::object()), mine));
  ASSERT_EQ(one["spec"]["listeners"].size(), 1U);
  EXPECT_EQ(one["spec"]["listeners"][0]["name"], "one");
}

TEST_F(fake_client_test, status_is_another_door) {
  json object = thing("a", {{"x", 1}});
  object["status"] = {{"ready", true}};
  EXPECT_EQ(code_of(api.apply(things, object, {.field_manager = "s", .subresource = "status"}).error()),
            errc::not_found);
  EXPECT_FALSE(must(api.apply(things, object, mine)).contains("status"));
  object["spec"]["x"] = 99;
  const json with = must(api.apply(things, object, {.field_manager = "s", .subresource = "status"}));
  EXPECT_EQ(with["status"]["ready"], true);
  EXPECT_EQ(with["spec"]["x"], 1);
  EXPECT_EQ(generation_of(with), 1);
}

TEST_F(fake_client_test, preconditions_in_an_apply) {
  const json made = must(api.apply(things, thing("a", {{"x", 1}}), mine));
  json object = thing("a", {{"x", 2}});
  object["metadata"]["resourceVersion"] = resource_version_of(made);
  (void)must(api.apply(things, object, mine));
  EXPECT_EQ(code_of(api.apply(things, object, mine).error()), errc::conflict);
}

TEST_F(fake_client_test, finalizers_hold_an_object_until_the_last_is_patched_away) {
  json object = thing("a", {});
  object["metadata"]["finalizers"] = {"example.io/keep"};
  (void)must(api.create(things, object, "op"));
  EXPECT_TRUE(api.remove(things, a, {}));
  const json deleting = must(api.get(things, a));
  EXPECT_TRUE(is_deleting(deleting));
  const auto without = [](const json& seen) {
    return json{{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", resource_version_of(seen)}},
                {{"op", "remove"}, {"path", "/metadata/finalizers/0"}}};
  };
  (void)api.put(things, [&] {
    json touched = deleting;
    touched["metadata"]["labels"] = {{"k", "v"}};
    return touched;
  }());
  EXPECT_EQ(code_of(api.json_patch(things, a, without(deleting)).error()), errc::conflict);
  (void)must(api.json_patch(things, a, without(must(api.get(things, a)))));
  EXPECT_EQ(code_of(api.get(things, a).error()), errc::not_found);
}

TEST_F(fake_client_test, pages_and_selectors) {
  for (int i = 0; i < 5; ++i) {
    json object = thing("t" + std::to_string(i), {});
    object["metadata"]["labels"] = {{"parity", i % 2 == 0 ? "even" : "odd"}};
    (void)must(api.create(things, object, "op"));
  }
  const auto first = api.list(things, {.namespace_name = "n", .limit = 3});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->items.size(), 3U);
  const auto second = api.list(things, {.namespace_name = "n", .limit = 3, .continue_token = first->continue_token});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->items.size(), 2U);
  EXPECT_TRUE(second->continue_token.empty());
  api.compact();
  EXPECT_EQ(code_of(api.list(things, {.continue_token = first->continue_token}).error()), errc::gone);
  EXPECT_EQ(api.list(things, {.label_selector = "parity=even"})->items.size(), 3U);
  EXPECT_EQ(api.list(things, {.label_selector = "parity in (odd),parity"})->items.size(), 2U);
  EXPECT_EQ(api.list(things, {.label_selector = "!parity"})->items.size(), 0U);
  EXPECT_EQ(api.list(things, {.field_selector = "metadata.name=t3"})->items.size(), 1U);
  EXPECT_EQ(api.list(things, {.namespace_name = "elsewhere"})->items.size(), 0U);
}

TEST_F(fake_client_test, a_watch_sees_what_follows_and_ends_when_told) {
  const json made = must(api.create(things, thing("a", {{"x", 1}}), "op"));
  std::vector<std::string> seen;
  std::atomic<bool> cancel{false};
  std::thread watcher([&] {
    const auto ended = api.watch(things, {.resource_version = std::string(resource_version_of(made))}, cancel,
                                 [&](const std::string& type, json&& object) {
                                   seen.push_back(type + " " + std::string(name_of(object)));
                                   return seen.size() < 4;
                                 });
    EXPECT_TRUE(ended && *ended == watch_end::stopped_by_handler);
  });
  (void)must(api.apply(things, thing("a", {{"x", 2}}), mine));
  (void)must(api.create(things, thing("b", {}), "op"));
  (void)api.remove(things, a, {});
  api.send_bookmarks();
  watcher.join();
  EXPECT_EQ(seen, (std::vector<std::string>{"MODIFIED a", "ADDED b", "DELETED a", "BOOKMARK "}));
  api.compact();
  EXPECT_EQ(code_of(api.watch(things, {.resource_version = "1"}, cancel, nullptr).error()), errc::gone);
}

TEST_F(fake_client_test, planned_failures_and_recorded_writes) {
  api.fail_next("apply", "things", {errc::server_error, "boom"});
  EXPECT_FALSE(api.apply(things, thing("a", {{"x", 1}}), mine));
  EXPECT_FALSE(api.read(things, a));
  api.fail_next("apply", "", {errc::timed_out, "lost"}, 1, true);
  EXPECT_FALSE(api.apply(things, thing("a", {{"x", 1}}), mine));
  EXPECT_TRUE(api.read(things, a));
  EXPECT_EQ(api.writes().size(), 2U);
  EXPECT_EQ(api.writes()[0].verb, "apply");
  api.terminate_namespace("n");
  EXPECT_EQ(code_of(api.create(things, thing("b", {}), "op").error()), errc::forbidden);
}

TEST_F(fake_client_test, garbage_follows_its_owners) {
  const json owner = must(api.create(things, thing("a", {}), "op"));
  json child = thing("child", {});
  child["metadata"]["ownerReferences"] = {{{"uid", uid_of(owner)}, {"name", "a"}}};
  (void)must(api.create(things, child, "op"));
  api.collect_garbage();
  EXPECT_EQ(api.read_all(things).size(), 2U);
  api.erase(things, a);
  api.collect_garbage();
  EXPECT_EQ(api.read_all(things).size(), 0U);
}

}  // namespace
}  // namespace braidmq::k8s::testing

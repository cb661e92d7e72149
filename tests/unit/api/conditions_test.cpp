#include "api/conditions.hpp"

#include <nlohmann/json.hpp>

#include "api/row.hpp"

namespace braidmq::api {
namespace {

using status = condition_status;

condition make(status value, const std::string& reason, const std::string& message = "words",
               std::int64_t generation = 1) {
  return {.type = "Ready", .status = value, .reason = reason, .message = message, .observed_generation = generation};
}

TEST(conditions, transition_time_moves_with_the_status_alone) {
  condition_list list;
  set(list, make(status::unknown, "First"), 100);
  EXPECT_EQ(find(list, "Ready")->transition_s, 100);
  set(list, make(status::no, "Starting"), 200);
  EXPECT_EQ(find(list, "Ready")->transition_s, 200);
  set(list, make(status::no, "Failing", "other words", 2), 300);
  EXPECT_EQ(find(list, "Ready")->transition_s, 200);
  EXPECT_EQ(find(list, "Ready")->reason, "Failing");
  EXPECT_EQ(find(list, "Ready")->observed_generation, 2);
  set(list, make(status::yes, "Done"), 400);
  EXPECT_EQ(find(list, "Ready")->transition_s, 400);
  EXPECT_EQ(list.size(), 1U);
  EXPECT_TRUE(is_true(list, "Ready"));
  EXPECT_FALSE(is_true(list, "Healthy"));
}

TEST(conditions, set_twice_in_a_pass_are_no_transition) {
  condition_list before;
  set(before, make(status::no, "Refused"), 100);
  auto list = before;
  set(list, make(status::yes, "Running"), 200, before);
  set(list, make(status::no, "Refused"), 200, before);
  EXPECT_EQ(find(list, "Ready")->transition_s, 100);
  EXPECT_EQ(list.size(), 1U);
}

TEST(conditions, survive_the_server_unchanged) {
  condition_list list;
  set(list, make(status::yes, "Done"), 1'764'450'305);
  const json object = {{"status", {{"conditions", to_json(list)}}}};
  EXPECT_EQ(object["status"]["conditions"][0]["lastTransitionTime"], "2025-11-29T21:05:05Z");
  const auto read = read_conditions(object);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(to_json(read), to_json(list));
}

TEST(conditions, of_any_json_are_read_without_harm) {
  for (const char* text : {"null", "[]", "{\"status\":7}", "{\"status\":{\"conditions\":{}}}",
                           "{\"status\":{\"conditions\":[1,{},{\"type\":[]},{\"type\":\"A\",\"status\":true}]}}",
                           "{\"status\":{\"conditions\":[{\"type\":\"A\",\"observedGeneration\":-1}]}}"}) {
    const auto list = read_conditions(json::parse(text));
    for (const auto& one : list) EXPECT_EQ(one.status, status::unknown) << text;
  }
}

TEST(conditions, messages_are_cut_between_characters) {
  condition_list list;
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "\xc3\xa4";
  set(list, make(status::yes, "Long", umlauts), 1);
  const auto& message = find(list, "Ready")->message;
  EXPECT_LE(message.size(), 1024U);
  EXPECT_GE(message.size(), 1000U);
  EXPECT_NO_THROW(json(message).dump());  // dump() throws on half a character
  EXPECT_TRUE(message.ends_with("..."));
}

TEST(row, times_are_read_as_kubernetes_writes_them) {
  EXPECT_EQ(parse_time("1970-01-02T00:00:01Z"), 86'401);
  EXPECT_EQ(parse_time("2026-11-29T20:55:05.123456Z"), parse_time("2026-11-29T20:55:05Z"));
  EXPECT_EQ(parse_time("2026-11-29T21:55:05+01:00"), parse_time("2026-11-29T20:55:05Z"));
  EXPECT_EQ(format_time(parse_time("2026-11-29T20:55:05Z")), "2026-11-29T20:55:05Z");
  for (const char* bad :
       {"", "2026", "2026-11-29", "2026-13-29T20:55:05Z", "2026-11-29T20:55:05", "2026-11-29T2x:55:05Z",
        "2026-11-29T20:55:05.Zz", "2026-02-30T00:00:00Z", "2026-11-29T20:55:05+1:00"})
    EXPECT_EQ(parse_time(bad), 0) << bad;
}

}  // namespace
}  // namespace braidmq::api

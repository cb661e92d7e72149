#include "k8s/object.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "k8s/errc.hpp"
#include "k8s/time.hpp"

namespace braidmq::k8s {
namespace {

TEST(object_test, reads_metadata_and_bears_its_absence) {
  const json object = json::parse(R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"12",
      "generation":9007199254740993,"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":3}})");
  EXPECT_EQ(name_of(object), "a");
  EXPECT_EQ(uid_of(object), "u");
  EXPECT_EQ(resource_version_of(object), "12");
  EXPECT_EQ(generation_of(object), 9007199254740993);  // no double on the way
  EXPECT_TRUE(is_deleting(object));
  EXPECT_EQ(key_of(object).to_string(), "n/a");
  ASSERT_NE(find(object, {"spec", "replicas"}), nullptr);
  EXPECT_EQ(*find(object, {"spec", "replicas"}), 3);
  EXPECT_EQ(find(object, {"spec", "replicas", "deeper"}), nullptr);
  EXPECT_EQ(find(object, {"status", "replicas"}), nullptr);

  for (const char* odd :
       {"{}", "[]", "null", "7", R"({"metadata":7})", R"({"metadata":{"name":7,"generation":"x"}})"}) {
    const json value = json::parse(odd);
    EXPECT_EQ(name_of(value), "") << odd;
    EXPECT_EQ(generation_of(value), 0) << odd;
    EXPECT_FALSE(is_deleting(value)) << odd;
  }
}

TEST(object_test, api_version_of_core_and_group) {
  EXPECT_EQ((resource_type{"", "v1", "Pod", "pods"}).api_version(), "v1");
  EXPECT_EQ((resource_type{"apps", "v1", "StatefulSet", "statefulsets"}).api_version(), "apps/v1");
}

// 4.5: time as RFC 3339, MicroTime with six digits in Lease and events.
TEST(object_test, micro_time_has_six_digits) {
  EXPECT_EQ(format_micro_time(1'700'000'000'007), "2023-11-14T22:13:20.007000Z");
  EXPECT_EQ(format_micro_time(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_time(1'700'000'000'007), "2023-11-14T22:13:20Z");
  EXPECT_EQ(parse_time("2023-11-14T22:13:20.007000Z"), 1'700'000'000'007);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20Z"), 1'700'000'000'000);
  EXPECT_EQ(parse_time("2023-11-15T00:13:20+02:00"), 1'700'000'000'000);
  for (const char* bad : {"", "2023", "2023-13-01T00:00:00Z", "2023-02-30T00:00:00Z", "2023-11-14T22:13:20",
                          "2023-11-14T22:13:20.Z", "2023-11-14T25:13:20Z", "2023-11-14T22:13:20Zx"}) {
    EXPECT_EQ(parse_time(bad), std::nullopt) << bad;
  }
}

TEST(object_test, every_error_has_words) {
  for (int code = 1; code <= static_cast<int>(errc::config); ++code) {
    EXPECT_NE(make_error_code(static_cast<errc>(code)).message(), "unknown Kubernetes error") << code;
  }
}

}  // namespace
}  // namespace braidmq::k8s

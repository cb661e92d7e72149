#include "admin/metrics.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace braidmq::admin {
namespace {

std::string text_of(const prometheus::MetricFamily& family) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, {family});
  return out.str();
}

TEST(metrics, counters_and_gauges_carry_prefix_labels_and_value) {
  auto closed = counter_family("connections_closed_total", "Connections that ended, by cause");
  add_value(closed, 3, {{"cause", "idle"}});
  add_value(closed, 4, {{"cause", "frame_too_large"}});
  const auto text = text_of(closed);
  EXPECT_NE(text.find("# TYPE braidmq_connections_closed_total counter"), std::string::npos) << text;
  EXPECT_NE(text.find("braidmq_connections_closed_total{cause=\"idle\"} 3\n"), std::string::npos) << text;
  auto open = gauge_family("connections", "Open connections");
  add_value(open, 7);
  EXPECT_NE(text_of(open).find("braidmq_connections 7\n"), std::string::npos);
}

TEST(metrics, a_histogram_of_microseconds_becomes_seconds) {
  histogram latency;
  latency.record(1);     // 1 us
  latency.record(1000);  // below 1024
  latency.record(500'000);
  auto family = histogram_family("fsync_seconds", "Time of one fdatasync");
  add_histogram(family, latency, 1e-6, 0, 20, {{"shard", "0"}});
  const auto& got = family.metric.at(0).histogram;
  EXPECT_EQ(got.sample_count, 3U);
  EXPECT_NEAR(got.sample_sum, 0.501001, 1e-9);
  ASSERT_EQ(got.bucket.size(), 22U);
  EXPECT_EQ(got.bucket[0].cumulative_count, 0U);   // below 1 us
  EXPECT_EQ(got.bucket[1].cumulative_count, 1U);   // below 2 us
  EXPECT_EQ(got.bucket[10].cumulative_count, 2U);  // below 1024 us
  EXPECT_NEAR(got.bucket[10].upper_bound, 0.001024, 1e-12);
  EXPECT_EQ(got.bucket[21].cumulative_count, 3U);
}

TEST(metrics, series_are_bounded_and_what_is_dropped_is_counted) {
  auto family = gauge_family("partition_size_bytes", "x");
  const auto before = dropped_series();
  for (std::size_t i = 0; i < max_series_per_family + 5; ++i) add_value(family, 1, {{"partition", std::to_string(i)}});
  EXPECT_EQ(family.metric.size(), max_series_per_family);
  EXPECT_EQ(dropped_series() - before, 5U);
}

TEST(metrics_death_test, names_follow_the_rules) {
  EXPECT_DEATH(counter_family("requests", "x"), "_total");
  EXPECT_DEATH(gauge_family("Has-Dashes", "x"), "Has-Dashes");
  EXPECT_DEATH(gauge_family("braidmq_twice", "x"), "braidmq_twice");
}

}  // namespace
}  // namespace braidmq::admin

#include "app/memory_bounds.hpp"

#include <gtest/gtest.h>

namespace braidmq::app {
namespace {

constexpr std::size_t mib = 1024 * 1024;

TEST(memory_bounds, follow_the_memory_and_never_exceed_the_configuration) {
  const memory_bounds wanted{128 * mib, 100 * mib};
  const auto in = [&](std::uint64_t memory) { return bound_by_memory(wanted, {.memory_bytes = memory}); };
  EXPECT_EQ(in(256 * mib).queue_max_bytes, 32 * mib);
  EXPECT_EQ(in(256 * mib).write_behind_max_bytes, 32 * mib);
  EXPECT_EQ(in(64'000 * mib).queue_max_bytes, 128 * mib);
  EXPECT_EQ(in(64'000 * mib).write_behind_max_bytes, 100 * mib);
  EXPECT_EQ(in(0).queue_max_bytes, 128 * mib) << "unknown limits nothing";
  EXPECT_EQ(in(1).queue_max_bytes, 1 * mib);
}

TEST(memory_bounds, of_requests_leave_room_for_two_of_the_largest) {
  const memory_bounds wanted{.requests_max_bytes = 256 * mib,
                             .answers_max_bytes = 512 * mib,
                             .frame_max_bytes = 100 * mib,
                             .entry_max_bytes = 100 * mib};
  const memory_bounds small = bound_by_memory(wanted, {.memory_bytes = 512 * mib});
  EXPECT_EQ(small.requests_max_bytes, 64 * mib);
  EXPECT_EQ(small.answers_max_bytes, 64 * mib);
  EXPECT_EQ(small.frame_max_bytes, 32 * mib);
  EXPECT_EQ(small.entry_max_bytes, 32 * mib);
  const memory_bounds large = bound_by_memory(wanted, {.memory_bytes = 16'000 * mib});
  EXPECT_EQ(large.frame_max_bytes, 100 * mib);
  EXPECT_EQ(large.entry_max_bytes, 100 * mib);
  EXPECT_EQ(large.answers_max_bytes, 512 * mib);
}

TEST(memory_bounds, of_fetch_sessions_are_a_small_part) {
  const memory_bounds wanted{.fetch_sessions_max_bytes = 64 * mib};
  EXPECT_EQ(bound_by_memory(wanted, {.memory_bytes = 512 * mib}).fetch_sessions_max_bytes, 16 * mib);
  EXPECT_EQ(bound_by_memory(wanted, {.memory_bytes = 16'000 * mib}).fetch_sessions_max_bytes, 64 * mib);
}

TEST(memory_bounds, says_where_the_limits_come_from) {
  EXPECT_EQ(to_string(runtime::resources{
                .cpus = 1.5, .memory_bytes = 512 * mib, .cpus_limited = true, .memory_limited = true}),
            "1.5 CPUs (limit of the control group), 512 MiB of memory (limit of the control group)");
  EXPECT_EQ(to_string(runtime::resources{.cpus = 4}), "4 CPUs (of the machine), unknown memory");
}

}  // namespace
}  // namespace braidmq::app

#include "app/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace braidmq::app {
namespace {

TEST(descriptors, the_soft_limit_rises_to_the_hard_one) {
  rlimit low{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &low), 0);
  low.rlim_cur = std::min<rlim_t>(low.rlim_max, 256);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), low.rlim_max);
  rlimit now{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, low.rlim_max);
}

TEST(descriptors, half_of_them_are_left_to_files) {
  EXPECT_EQ(connections_within(1024, 1, 2'147'483'647), 512);
  EXPECT_EQ(connections_within(1024, 2, 2'147'483'647), 256);
  EXPECT_EQ(connections_within(1024, 2, 100), 100) << "what was configured is never exceeded";
  EXPECT_EQ(connections_within(1, 4, 100), 1);
}

}  // namespace
}  // namespace braidmq::app

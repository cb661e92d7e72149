#include "runtime/resources.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace braidmq::runtime {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;

class resources_test : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = (std::filesystem::temp_directory_path() / ("braid-resources-" + std::to_string(getpid()))).string();
    std::filesystem::remove_all(root_);
    put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:         1024 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(resources_test, without_groups_the_machine_counts) {
  const auto found = read_resources(root_);
  EXPECT_GE(found.cpus, 1);
  EXPECT_FALSE(found.cpus_limited);
  EXPECT_EQ(found.memory_bytes, 8192 * mib);
  EXPECT_FALSE(found.memory_limited);
}

TEST_F(resources_test, v2_in_a_container_with_its_own_namespace) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  put("/sys/fs/cgroup/memory.max", std::to_string(512 * mib) + "\n");
  const auto found = read_resources(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 0.5);
  EXPECT_TRUE(found.cpus_limited);
  EXPECT_EQ(found.memory_bytes, 512 * mib);
  EXPECT_TRUE(found.memory_limited);
}

TEST_F(resources_test, v2_max_is_no_limit) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  const auto found = read_resources(root_);
  EXPECT_FALSE(found.cpus_limited);
  EXPECT_FALSE(found.memory_limited);
}

TEST_F(resources_test, v2_takes_the_tightest_of_all_levels) {
  put("/proc/self/cgroup", "0::/kubepods/pod1/broker\n");
  put("/sys/fs/cgroup/kubepods/pod1/broker/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/kubepods/pod1/broker/memory.max", std::to_string(2048 * mib) + "\n");
  put("/sys/fs/cgroup/kubepods/pod1/cpu.max", "25000 100000\n");
  put("/sys/fs/cgroup/kubepods/pod1/memory.max", std::to_string(1024 * mib) + "\n");
  const auto found = read_resources(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 0.25);
  EXPECT_EQ(found.memory_bytes, 1024 * mib);
}

TEST_F(resources_test, v1_quota_and_memory) {
  put("/proc/self/cgroup", "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n");
  put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "75000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", std::to_string(256 * mib) + "\n");
  const auto found = read_resources(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 0.75);
  EXPECT_EQ(found.memory_bytes, 256 * mib);
}

TEST_F(resources_test, v1_path_of_the_host_that_the_container_does_not_see) {
  put("/proc/self/cgroup", "5:memory:/docker/abc\n3:cpu:/docker/abc\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "10000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(128 * mib) + "\n");
  const auto found = read_resources(root_);
  EXPECT_DOUBLE_EQ(found.cpus, 0.1);
  EXPECT_EQ(found.memory_bytes, 128 * mib);
}

TEST_F(resources_test, v1_unlimited_values_are_no_limit) {
  put("/proc/self/cgroup", "5:memory:/\n3:cpu:/\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const auto found = read_resources(root_);
  EXPECT_FALSE(found.cpus_limited);
  EXPECT_FALSE(found.memory_limited);
}

TEST_F(resources_test, nonsense_is_no_limit) {
  put("/proc/self/cgroup", "nonsense\n0::/\n");
  put("/sys/fs/cgroup/cpu.max", "many few\n");
  put("/sys/fs/cgroup/memory.max", "-5 bytes\n");
  const auto found = read_resources(root_);
  EXPECT_FALSE(found.cpus_limited);
  EXPECT_FALSE(found.memory_limited);
}

TEST(shard_count, rounds_down_to_at_least_one_and_configuration_wins) {
  EXPECT_EQ(shard_count({.cpus = 0.5}, 0), 1U);
  EXPECT_EQ(shard_count({.cpus = 1.9}, 0), 1U);
  EXPECT_EQ(shard_count({.cpus = 4}, 0), 4U);
  EXPECT_EQ(shard_count({.cpus = 4}, 7), 7U);
}

}  // namespace
}  // namespace braidmq::runtime

#include "net/port_holder.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace braidmq::net {
namespace {

class port_holder_test : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = (std::filesystem::temp_directory_path() / ("braid-ports-" + std::to_string(getpid()))).string();
    std::filesystem::remove_all(root_);
    put("/proc/net/tcp",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0\n"
        "   1: 0100007F:2385 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0\n");
    put("/proc/net/tcp6",
        "  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n"
        "   0: 00000000000000000000000000000000:2386 00000000000000000000000000000000:0000 0A 00000000:00000000 "
        "00:00000000 00000000     0        0 4713 1 0 100 0\n");
    put("/proc/812/comm", "java\n");
    put("/proc/813/comm", "other\n");
    link("/proc/812/fd/3", "/dev/null");
    link("/proc/812/fd/7", "socket:[4711]");
    link("/proc/813/fd/1", "socket:[4713]");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::filesystem::create_symlink(target, root_ + path);
  }

  std::string root_;
};

TEST_F(port_holder_test, names_the_process_that_listens) {
  EXPECT_EQ(find_port_holder(9092, root_), "process 812 (java)");
  EXPECT_EQ(find_port_holder(9094, root_), "process 813 (other)");
}

TEST_F(port_holder_test, connections_and_free_ports_have_no_holder) {
  EXPECT_EQ(find_port_holder(9093, root_), std::nullopt);
  EXPECT_EQ(find_port_holder(9099, root_), std::nullopt);
}

}  // namespace
}  // namespace braidmq::net

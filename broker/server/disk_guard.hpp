// Watches the space on the volumes of data.dir and wal.dir. Below the reserve, writes are refused while there is still
// room for what must go on: applying what is committed, the next file of a write-ahead log, a checkpoint, deletions.
// They are taken again when a quarter of the reserve more is free.
//
// Threads: all on the owner's executor; file systems are asked on `disk`. A file system that cannot tell changes
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/timers.hpp"

namespace braidmq::server {

struct disk_guard_options {
  std::vector<std::string> folders;
  std::uint64_t reserve_bytes = 0;  // 0: a twentieth of each volume, from 256 MiB to 1 GiB, or the least
  std::uint64_t least_bytes = 0;    // what may still be written after writes are refused
};

struct disk_guard_environment {
  io::file_system& fs;
  io::executor& disk;
  io::executor& owner;
  io::timer_service& timers;
};

struct watched_volume {
  std::string folder;
  std::uint64_t free_bytes = 0;
  std::uint64_t reserve_bytes = 0;
  bool is_short = false;
  bool known = false;  // the file system has told
};

struct disk_guard_stats {
  std::vector<watched_volume> volumes;
  bool is_full = false;
  std::uint64_t failures = 0;  // a file system that did not tell
};

class disk_guard {
 public:
  // `changed` hears when writes are to be refused, or taken again, and why.
  disk_guard(disk_guard_options options, disk_guard_environment environment,
             std::function<void(bool is_full, const std::string& why)> changed);
  ~disk_guard();

  void start();
  void stop();

  const disk_guard_stats& statistics() const { return stats_; }

 private:
  void look();
  void judge(const std::vector<result<io::disk_space>>& seen);
  std::uint64_t reserve_of(const io::disk_space& volume) const;

  disk_guard_options options_;
  disk_guard_environment environment_;
  std::function<void(bool, const std::string&)> changed_;
  disk_guard_stats stats_;
  io::timer_id timer_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::server

// The least that a replicated write costs on this machine: three bare processes, of which the first takes a block of
// 4 KiB over TCP, sends it to the two others while it writes it itself (O_DIRECT, a prewritten file, fdatasync), and
// answers when two of the three have it on disk.
//
// Owner: one thread; the processes end with the object. Blocking. Errors: std::errc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"
#include "io/clock.hpp"

namespace braidmq::bench {

class replication_floor {
 public:
  static result<std::unique_ptr<replication_floor>> start(const std::string& folder);
  ~replication_floor();
  replication_floor(const replication_floor&) = delete;
  replication_floor& operator=(const replication_floor&) = delete;

  // From the block's first byte to the answer.
  result<io::duration> write();

 private:
  replication_floor() = default;

  std::vector<pid_t> processes_;
  int leader_ = -1;  // the connection to it
};

}  // namespace braidmq::bench

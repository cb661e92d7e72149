// What the library syscall_log notes of a broker's system calls: a file that the bench makes, of a head and events,
// mapped by both. Times are of CLOCK_MONOTONIC, in nanoseconds, as io::clock's.
#pragma once

#include <atomic>
#include <cstdint>

namespace braidmq::bench {

inline constexpr const char* syscall_log_variable = "BRAID_SYSCALL_LOG";  // path of the file

enum class syscall_kind : std::int32_t { receive, send, write, sync };

struct syscall_event {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int32_t thread = 0;
  syscall_kind kind = syscall_kind::receive;
  std::int64_t outcome = 0;  // what it returned
};

struct syscall_log_head {
  std::atomic<std::uint64_t> count{0};  // of events that were begun to be noted; those beyond the capacity are lost
  std::uint64_t capacity = 0;
};

}  // namespace braidmq::bench

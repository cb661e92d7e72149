// The rows of the table, one file each. A row starts brokers of its own on an empty folder and leaves none behind.
//
// Blocking, seconds to minutes. An error means that nothing could be measured; a target that is missed is no error.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/broker/broker_process.hpp"
#include "bench/broker/report.hpp"

namespace braidmq::bench {

struct bench_options {
  std::string program;      // the broker
  std::string folder;       // where brokers keep their data, on the file system that is to be measured
  std::string syscall_log;  // the library that notes system calls, for the hops
};

using row_function = result<std::vector<row>> (*)(const bench_options&);

// Serial writes of two topics, against fdatasync on the same file system.
result<std::vector<row>> atomic_write(const bench_options& options);
// The same with three brokers, against three processes that only replicate and sync.
result<std::vector<row>> replicated_write(const bench_options& options);
// Where the time of such a write goes.
result<std::vector<row>> atomic_write_hops(const bench_options& options);
// Records for each second of the broker's processor time.
result<std::vector<row>> records_per_cpu_second(const bench_options& options);
// Acknowledgements while 1,000 dirty partitions are checkpointed, against those between.
result<std::vector<row>> acks_at_checkpoints(const bench_options& options);
// Resident memory without work.
result<std::vector<row>> idle_memory(const bench_options& options);
// Resident memory of 1,000 partitions under load, and the start after a kill in the midst of it.
result<std::vector<row>> many_partitions(const bench_options& options);

// Options of a broker of one shard on an empty folder of this name.
result<broker_options> fresh_broker(const bench_options& options, const std::string& name);

}  // namespace braidmq::bench

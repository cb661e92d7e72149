// Shows what a WAL folder holds, as recovery reads it, for people. Nothing is changed and nothing is locked: while a
// broker writes to the folder, its last group write may be seen half written. Blocking; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "wal/format.hpp"

namespace braidmq::wal {

class visitor {
 public:
  virtual ~visitor() = default;

  virtual void on_file(const std::string& path, const format::file_header& header) = 0;
  virtual void on_states(const format::group_header& group, const format::group_states& states) = 0;
  virtual void on_items(const format::group_header& group, const std::vector<append_item>& items) = 0;
  virtual void on_mark(const format::group_header& group) = 0;
  // Where the next group write goes. `torn_bytes`: of one that is there in part.
  virtual void on_end(const std::string& path, std::uint64_t position, std::uint64_t torn_bytes) = 0;
};

// In the order of the log, up to its end or to the damage that the error names, which is that of log::open(). Of a
// folder without a WAL the error names those of its folders that have one.
status inspect(io::file_system& fs, const std::string& folder, visitor& shown);

}  // namespace braidmq::wal

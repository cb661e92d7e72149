// Reading entries back. The owner makes a plan from the position index; the disk executor carries it out, with nothing
// shared but open files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "wal/position_index.hpp"

namespace braidmq::wal {

struct read_step {
  position_index::run run;
  std::shared_ptr<io::file> file;
  std::string folder;  // for the words of an error
};

struct read_plan {
  raft::group_id group;
  raft::index from;
  std::size_t max_bytes;
  std::vector<read_step> steps;  // runs that follow one another; the first holds `from`
};

// Blocking. Every group write is verified again; damage is errc::corrupt.
result<std::vector<raft::entry>> read_entries(const read_plan& plan);

}  // namespace braidmq::wal

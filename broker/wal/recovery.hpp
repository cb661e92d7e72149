// Reads a WAL folder at start: checks every byte, tells a torn tail (cut) from damage of durable bytes (refused), and
// says where the log ends. The rules are in docs/formats/wal.md.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "wal/position_index.hpp"
#include "wal/writer.hpp"

namespace braidmq::wal {

struct recovery {
  log_end end;  // file_sequence 0: the folder holds no WAL yet
  std::map<std::uint64_t, std::shared_ptr<io::file>> files;
  position_index positions;
  std::uint64_t file_bytes = 0;
  std::uint64_t cut_bytes = 0;  // of the torn tail
};

// Blocking. Changes the folder only after everything has been found sound: the tail is cut, unfinished files of ours
// are removed, and what was read is made durable. A second run after an interruption comes to the same.
result<recovery> recover(io::file_system& fs, const std::string& folder);

}  // namespace braidmq::wal

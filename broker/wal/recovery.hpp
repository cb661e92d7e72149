// Reads a WAL folder at start: checks every byte, tells a torn tail (cut) from damage of durable bytes (refused), and
// says where the log ends. The rules are in docs/formats/wal.md.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "wal/position_index.hpp"
#include "wal/writer.hpp"

namespace braidmq::wal {

struct log_file {
  std::shared_ptr<io::file> file;
  std::uint64_t used_bytes = 0;  // what has been written to it for the log; it may be larger
};

struct recovery {
  log_end end;  // file_sequence 0: the folder holds no WAL yet
  std::map<std::uint64_t, log_file> files;
  position_index positions;
  std::map<raft::group_id, std::vector<raft::term_run>> terms;  // of the entries in `positions`
  std::vector<std::string> spares;                              // names of files that wait to be used again
  bool vouched = true;          // the last group write needs no mark: it is one, or it begins its file
  std::uint64_t cut_bytes = 0;  // of a group write that was torn
};

// Blocking. Changes the folder only after everything has been found sound: unfinished files of ours are removed, and
// what was read is made durable. A torn group write stays where it is and is overwritten by the next one. A second run
// after an interruption comes to the same.
result<recovery> recover(io::file_system& fs, const std::string& folder);

}  // namespace braidmq::wal

// Shows what the files of one segment hold, for people, and holds them against each other: batches in the order of
// their offsets with good CRCs, index entries that name batches. Any bytes may be in the files.
//
// Nothing is changed. While a broker writes to them, the last batch may be seen in part. Memory: a few windows of the
// files, whatever they say. Blocking; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "model/record_batch.hpp"

namespace braidmq::storage {

struct segment_summary {
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;  // of good and bad batches; less than the file when it cannot be read on
  model::offset end{-1};    // behind the last batch; -1: none
  std::optional<std::uint64_t> offset_index_entries;  // none: there is no such file, or nothing tells its offsets
  std::optional<std::uint64_t> time_index_entries;
};

class segment_visitor {
 public:
  virtual ~segment_visitor() = default;

  virtual void on_segment(const std::string& path, std::uint64_t size_bytes) = 0;
  virtual void on_batch(std::uint64_t position, const model::batch_header& header, bool crc_matches) = 0;
  // In the .log or in an index beside it; what follows in a file may not be readable any more.
  virtual void on_damage(const std::string& path, std::uint64_t position, const std::string& what) = 0;
  virtual void on_end(const std::string& path, const segment_summary& summary) = 0;
};

// `path` names the .log file. One of another name is read all the same, without indexes. True: no damage. Errors: those
// of the files, that is of the .log when it is not there.
result<bool> inspect_segment(io::file_system& fs, const std::string& path, segment_visitor& shown);

}  // namespace braidmq::storage

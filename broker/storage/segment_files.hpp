// The three files of one segment, and what is done with them on the disk executor.
//
// Threads: one write at a time, each begun after the one before it was reported to the owner; any number of reads
// meanwhile, of bytes whose write was reported. That order is what makes these safe without a lock; leftovers are cut
// beside them, under one.
//
// Leftovers: what an earlier life wrote after the checkpoint from which this one goes on. The same bytes are appended
// again, over them, so that they are not cut when the files are opened: for many files that takes long. What is then
// still there is cut when the segment is complete, or by cut_leftovers().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/file_system.hpp"
#include "model/ids.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {

// What one write puts into the files: bytes of whole batches, then the index entries that speak of them.
struct segment_write {
  std::uint64_t position = 0;
  std::vector<bytes> batches;
  std::uint64_t offset_index_position = 0;
  bytes offset_index_entries;
  std::uint64_t time_index_position = 0;
  bytes time_index_entries;
  bool last = false;  // nothing follows: the index files may be closed
};

struct segment_file_sizes {
  std::uint64_t log = 0;
  std::uint64_t offset_index = 0;
  std::uint64_t time_index = 0;
};

// The first bytes of a file, and how many it has.
struct file_prefix {
  bytes content;
  std::uint64_t file_bytes = 0;
};

class segment_files {
 public:
  segment_files(io::file_system& fs, const std::string& folder, model::offset base);

  const std::string& log_path() const { return log_path_; }

  // Opens a log file that must be there.
  status open_existing();
  result<std::uint64_t> size() const { return log_->size(); }
  status truncate(std::uint64_t size) { return log_->truncate(size); }

  // What the index files hold up to so many bytes; what is not there is empty.
  result<file_prefix> read_offset_index(std::uint64_t size_bytes) const;
  result<file_prefix> read_time_index(std::uint64_t size_bytes) const;

  // Before the first write: how long the files are, and how much of them is known.
  void set_leftovers(const segment_file_sizes& found, const segment_file_sizes& known);
  // Cuts what lies beyond all that was written so far. Disk executor; beside a write.
  status cut_leftovers();

  // Makes what was written before the call survive a power cut. `sealed`: the index files, too, which nobody writes to
  // any more. Beside writes that come later.
  status sync(bool sealed) const;

  // Makes the index files hold these bytes and nothing else.
  status replace_indexes(byte_view offset_entries, byte_view time_entries);

  // Unlinks those of the files that are there. Nothing may be written any more; reads under way go on.
  status remove() const;

  // Makes the files that are missing.
  status write(const segment_write& what);

  // Fills `target`; fewer bytes are errc::corrupt.
  status read(std::uint64_t position, mutable_byte_view target) const;

 private:
  status cut();
  static status cut_file(io::file_system& fs, const std::string& path, io::file* opened, std::uint64_t& found,
                         std::uint64_t end);

  io::file_system* fs_;
  std::string log_path_;
  std::string offset_index_path_;
  std::string time_index_path_;
  std::unique_ptr<io::file> log_;
  std::unique_ptr<io::file> offset_index_;
  std::unique_ptr<io::file> time_index_;

  std::mutex cutting_;
  segment_file_sizes found_;  // at open; zero: nothing is left over
  segment_file_sizes ends_;   // of what is known or was written since
};

}  // namespace braidmq::storage

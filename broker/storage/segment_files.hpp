// The three files of one segment, and what is done with them on the disk executor.
//
// Threads: one write at a time, each begun after the one before it was reported to the owner; any number of reads
// meanwhile, of bytes whose write was reported. That order is what makes this safe without a lock.
#pragma once

#include <cstdint>
#include <memory>
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

class segment_files {
 public:
  segment_files(io::file_system& fs, const std::string& folder, model::offset base);

  const std::string& log_path() const { return log_path_; }

  // Opens a log file that must be there.
  status open_existing();
  result<std::uint64_t> size() const { return log_->size(); }
  status truncate(std::uint64_t size) { return log_->truncate(size); }

  // What the index files hold up to so many bytes; what is longer is cut off, and what is not there is empty.
  result<bytes> read_offset_index(std::uint64_t size_bytes) const;
  result<bytes> read_time_index(std::uint64_t size_bytes) const;

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
  io::file_system* fs_;
  std::string log_path_;
  std::string offset_index_path_;
  std::string time_index_path_;
  std::unique_ptr<io::file> log_;
  std::unique_ptr<io::file> offset_index_;
  std::unique_ptr<io::file> time_index_;
};

}  // namespace braidmq::storage

// The floor under every durable write: one 4 KiB block of a file that was written before, past the page cache, and
// fdatasync. What the write-ahead log does is measured against this on the same file system.
//
// Owner: one thread; blocking. Errors: io::errc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/clock.hpp"
#include "io/file_system.hpp"

namespace braidmq::bench {

class disk_floor {
 public:
  // Writes the whole file once; it is removed with the object.
  static result<std::unique_ptr<disk_floor>> make(const std::string& folder);
  ~disk_floor();
  disk_floor(const disk_floor&) = delete;
  disk_floor& operator=(const disk_floor&) = delete;

  // The next block, durable; how long that took.
  result<io::duration> write();

 private:
  disk_floor(std::string path, std::unique_ptr<io::file> file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::unique_ptr<io::file> file_;
  std::uint64_t position_ = 0;
};

// How long it takes to read these files once, one after the other, past the page cache. Blocking.
result<io::duration> plain_read(const std::vector<std::string>& paths, std::uint64_t& bytes_read);

}  // namespace braidmq::bench

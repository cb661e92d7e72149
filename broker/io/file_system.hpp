// Files and folders. Calls block: they run on a disk executor, never on a shard (start-up, before shards run,
// excepted).
//
// What survives a power cut, and what every implementation promises, the simulated one to the letter:
// - bytes of a file: what was there at its last successful sync_data; later bytes may be lost in part, in any order;
// - a name (made, renamed or removed): what was there at the last successful sync_directory of its folder;
// - after an error of write or sync nothing is known of the file: no retry, no acknowledgement (design: EIO ends the
//   process).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/errc.hpp"

namespace braidmq::io {

enum class open_mode {
  read,        // must exist
  read_write,  // must exist
  create,      // read and write; made when missing, kept when there
  create_new,  // read and write; already_exists when there
};

class file {
 public:
  virtual ~file() = default;  // closes; buffered bytes are not synced by this

  // Fills `target` from `position`; fewer bytes only at the end of the file. Several threads may read at once.
  virtual result<std::size_t> read_at(std::uint64_t position, mutable_byte_view target) const = 0;

  // Writes all parts one after the other from `position`, growing the file (a gap reads as zeros).
  virtual status write_at(std::uint64_t position, std::span<const byte_view> parts) = 0;
  status write_at(std::uint64_t position, byte_view part) { return write_at(position, std::span(&part, 1)); }

  // fdatasync: bytes and size.
  virtual status sync_data() = 0;

  // Forgets what memory holds of a file that has just been synced, so that reads come from the device. After a sync
  // that failed, perhaps in the life of another process, memory shows bytes that are on no disk, and later syncs report
  // success: who wants to build on what it reads asks the device.
  virtual status discard_cache() = 0;

  virtual status truncate(std::uint64_t size) = 0;
  virtual result<std::uint64_t> size() const = 0;
};

// Held for as long as a process owns a folder; freed by the operating system when the process ends, however it ends.
class folder_lock {
 public:
  virtual ~folder_lock() = default;
};

// Of the volume on which a folder lies, as far as this process may use it.
struct disk_space {
  std::uint64_t free_bytes = 0;
  std::uint64_t size_bytes = 0;
};

// What a direct file asks of the positions and sizes of its writes.
inline constexpr std::size_t direct_block_bytes = 4096;

class file_system {
 public:
  virtual ~file_system() = default;

  virtual result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) = 0;
  // Reads and writes go to the device and leave no pages in memory, where the file system can do that; elsewhere
  // (tmpfs) this is open(). Writes are whole blocks at block boundaries, their parts may lie anywhere in memory; reads
  // are free.
  virtual result<std::unique_ptr<file>> open_direct(const std::string& path, open_mode mode) = 0;
  virtual result<bool> exists(const std::string& path) = 0;
  virtual result<disk_space> space(const std::string& folder) = 0;
  // Names (not paths) of files and folders in a folder, sorted.
  virtual result<std::vector<std::string>> list(const std::string& folder) = 0;
  // Makes a folder and the missing ones above it, and syncs the parents, so that the folder survives a power cut.
  virtual status make_directories(const std::string& folder) = 0;
  virtual status remove(const std::string& path) = 0;
  virtual status rename(const std::string& from, const std::string& to) = 0;
  virtual status sync_directory(const std::string& folder) = 0;
  // An exclusive advisory lock on `path` (made when missing). busy: the message names the holder when it is known.
  virtual result<std::unique_ptr<folder_lock>> lock(const std::string& path) = 0;
};

// The operating system's files.
file_system& posix_file_system();

// Writes a small file so that after a power cut it is there whole, or as it was before: temporary, sync, rename, sync
// of the folder. `path` must have a folder part.
status write_file_atomically(file_system& fs, const std::string& path, byte_view content);

// The whole content; an error when it is longer than `limit`.
result<bytes> read_file(file_system& fs, const std::string& path, std::size_t limit);

}  // namespace braidmq::io

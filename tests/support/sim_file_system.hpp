// A file system in memory that keeps the promises of io/file_system.hpp to the letter, and nothing beyond them.
//
// Fault model
// - A file has durable bytes (its last sync_data) and the changes since: writes and truncates. A power cut keeps the
//   durable bytes and draws what survives of the changes: nothing, everything, a prefix, some changes in any
//   combination, or single 512-byte sectors of them (a sector is whole or old). The size is drawn apart from the bytes:
//   it may be ahead of them (zeros) or behind (bytes cut off). A truncate may be lost while later writes are kept.
// - A folder has durable names (its last sync_directory) and the changes since: made, renamed, removed. A power cut
//   draws which of them survive. A rename is one change: both names or neither, unless just one of two folders was
//   synced. sync_data of a new file does not make its name durable.
// - A failed sync loses the changes for good: readers still see them, a later sync reports success, a power cut takes
//   them (the "fsyncgate" behaviour of Linux).
// - A failed write leaves any prefix of itself.
//
// Operations are those with an effect: a name made, renamed or removed, a write, a truncate, a sync. They are counted,
// so that a test can crash at each of them in turn. All chance comes from the seed. Any thread may call; for runs that
// can be repeated, one thread must.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/file_system.hpp"
#include "support/sim_random.hpp"

namespace braidmq::sim {

// How likely each fate of a file's (and of a folder's) unsynced changes is, as weights. All zero but one: that fate.
struct power_cut_options {
  unsigned lose_all = 2;
  unsigned keep_all = 1;
  unsigned keep_prefix = 2;   // in the order of the calls, the last one perhaps torn
  unsigned keep_some = 2;     // each change whole or not at all
  unsigned keep_sectors = 3;  // each sector of each change by itself (folders: as keep_some)
  bool size_apart = true;     // the size is drawn by itself, ahead of or behind the bytes

  static power_cut_options only_synced() { return {1, 0, 0, 0, 0, false}; }
  static power_cut_options everything_written() { return {0, 1, 0, 0, 0, false}; }
};

enum class operation { open, read, write, truncate, sync_data, sync_directory, make_name, remove, rename, list, space };

struct operation_counts {
  std::uint64_t writes = 0;
  std::uint64_t truncates = 0;
  std::uint64_t data_syncs = 0;
  std::uint64_t directory_syncs = 0;
  std::uint64_t names = 0;  // made, renamed, removed
  std::uint64_t total() const { return writes + truncates + data_syncs + directory_syncs + names; }
};

class sim_file_system final : public io::file_system {
 public:
  explicit sim_file_system(std::uint64_t seed = 1);
  ~sim_file_system() override;

  result<std::unique_ptr<io::file>> open(const std::string& path, io::open_mode mode) override;
  // As open(), and holds callers to whole blocks.
  result<std::unique_ptr<io::file>> open_direct(const std::string& path, io::open_mode mode) override;
  result<bool> exists(const std::string& path) override;
  result<io::disk_space> space(const std::string& folder) override;
  result<std::vector<std::string>> list(const std::string& folder) override;
  status make_directories(const std::string& folder) override;
  status remove(const std::string& path) override;
  status rename(const std::string& from, const std::string& to) override;
  status sync_directory(const std::string& folder) override;
  result<std::unique_ptr<io::folder_lock>> lock(const std::string& path) override;

  // What is there when power comes back. Files and locks that are open belong to the process that died: their calls
  // fail for ever. Ends the state that crash_after began.
  void power_cut(rng& chance, const power_cut_options& options = {});

  // The process dies, the machine does not: everything written is kept (and is as unsynced as before). Ends the state
  // that crash_after began.
  void kill_process();

  // The n-th operation from now (1: the next one) and all calls after it fail with device_error "simulated power cut";
  // they have no effect, save that a write may leave a part of itself. 0 takes it back. Only power_cut and
  // kill_process end it.
  void crash_after(std::uint64_t n_operations);
  bool crashed() const;
  operation_counts operations() const;

  // The next `times` calls of this kind on a path that matches `pattern` (shell wildcards; '*' also matches '/') fail
  // with `code`, after `skip` of them have passed.
  void fail_next(operation kind, std::string pattern, io::errc code, std::uint64_t skip = 0, std::uint64_t times = 1);
  void clear_failures();

  // Planted bug: sync_data reports success and does nothing.
  void set_ignore_sync(bool on);

  // What space() says is free. Writes go on: who fills a disk is somebody else.
  void set_free_bytes(std::uint64_t free);

  // Damages a byte where it lies, in every version of it (bit rot). Requires that the byte is there.
  void flip_bits(const std::string& path, std::uint64_t position, std::uint8_t mask);

  // A second file system with the same files, durable and not; nobody has anything open in it. For tests that try
  // several power cuts at one point.
  std::unique_ptr<sim_file_system> copy(std::uint64_t seed) const;

  struct state;

 private:
  result<std::unique_ptr<io::file>> open_file(const std::string& path, io::open_mode mode, bool direct);
  explicit sim_file_system(std::shared_ptr<state> state);

  std::shared_ptr<state> state_;
};

}  // namespace braidmq::sim

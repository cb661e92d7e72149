// The write-ahead log of one shard (or of the metadata quorum): one sequence of group writes that carries the entries
// and hard states of all Raft groups of its owner. One fdatasync makes everything durable that waited.
//
// Threads: calls are made and callbacks run on the owner's executor, never inside a call; blocking file calls run on
// the disk executor, at most one write at a time, reads beside it. Appends that arrive during a write go together into
// the next one. A log may be destroyed while work is under way: its callbacks are dropped, the write may or may not
// become durable. File system, clock, random source and both executors must outlive the work that was posted.
//
// Errors: a failed write or sync is final (never retried: the kernel may have dropped the pages). The append's callback
// and every later one get the error, and the owner ends the process. Damage found by open(): docs/formats/wal.md.
//
// Memory: appends that wait are held until written; their owners bound them (stats::queued_bytes shows them).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/random.hpp"
#include "io/timers.hpp"
#include "raft/types.hpp"

namespace braidmq::wal {

enum class errc {
  corrupt = 1,   // durable bytes are damaged: refused, nothing is cut
  wrong_format,  // not a WAL of ours, or of a later version
  failed,        // an earlier write failed
  not_retained,  // read: the index is outside what the log holds
};
std::error_code make_error_code(errc code);

struct options {
  std::string folder;                                      // must exist
  std::uint64_t file_bytes = 64ULL << 20U;                 // a new file is begun when the current one has reached this
  std::size_t max_group_bytes = 16U << 20U;                // appends beyond this wait for the next group write
  bool preallocate = true;                                 // files are made at full size before they are needed
  io::duration mark_delay = std::chrono::milliseconds(5);  // idle for so long, it says durably that all is durable
};

// One group's part of a durable step.
struct append_item {
  raft::group_id group;
  std::optional<raft::hard_state> state;
  std::vector<raft::entry> entries;  // an index at or below the group's last one replaces it and all after it
};

// What open() found of a group.
struct recovered_group {
  raft::group_id group;
  raft::hard_state state;
  raft::index first_index;  // of those that read() can give; 0: none
  raft::index last_index;
  raft::term last_term;
  std::vector<raft::term_run> terms;  // of the entries from first_index on
};

// What must outlive the log and all work that it has posted. `disk` and `background` may block: the first waits for
// every durable write, the second makes files that will be needed.
struct environment {
  io::file_system& fs;
  io::executor& disk;
  io::executor& background;
  io::executor& owner;
  io::timer_service& timers;  // of the owner
  io::random_source& random;
  const io::clock& clock;
};

struct stats {
  std::uint64_t groups_written = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t syncs = 0;
  std::uint64_t last_sync_nanos = 0;
  std::uint64_t file_count = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t queued_bytes = 0;  // of appends that are not yet durable
  std::uint64_t cut_bytes = 0;     // of a torn group write, at open
  std::uint64_t marks = 0;
  std::uint64_t spare_files = 0;     // that wait to be used
  std::uint64_t recycled_files = 0;  // that were used again
  std::uint64_t spare_failures = 0;  // a file could not be made ahead: the log goes on with one that grows
};

class log {
 public:
  virtual ~log() = default;

  // Blocking; before the owner runs. Reads the whole log, cuts a torn tail, refuses damage of durable bytes (the error
  // names file, position and what to do).
  static result<std::unique_ptr<log>> open(const environment& environment, options options);

  virtual const std::vector<recovered_group>& recovered() const = 0;

  // `durable` runs once item and all items before it are on disk, in order of the appends. The entries' indexes follow
  // one another, and the first is at most one above the group's last (durable or not).
  virtual void append(append_item item, unique_function<void(status)> durable) = 0;

  // Reads entries of a group from `from` on: at least one, then as many as their payloads fit into max_bytes. Sees
  // every append that has become durable. Payloads share the memory of the group write that they came in: not to be
  // kept long.
  virtual void read(raft::group_id group, raft::index from, std::size_t max_bytes,
                    unique_function<void(result<std::vector<raft::entry>>)> done) = 0;

  // Entries of a group below `from` are not asked for any more, by anybody. Files that hold nothing else leave the log:
  // they are used again or removed.
  virtual void release(raft::group_id group, raft::index from) = 0;

  virtual stats statistics() const = 0;
};

}  // namespace braidmq::wal

template <>
struct std::is_error_code_enum<braidmq::wal::errc> : std::true_type {};

// The bytes of one partition: segments of record batches with an offset index and a time index each. A view of the
// braid's log: nothing here is synced for durability (the WAL vouches for it), and what is on disk can be made again.
//
// Append is memory only; write-behind carries pending bytes to the files in the background, coalesced, in order. A read
// takes bytes below the written position from the files and bytes above it from memory; pending bytes are never
// evicted. Threads: calls are made and callbacks run on the owner's executor, never inside the call; file calls run on
// the disk executor, which may be a pool. Both executors and the file system outlive the log and its tasks. Destroying
// the log drops its callbacks; a write under way still ends on the disk executor, so open a folder again only after
// that. Errors: a failed write is final for the log: `on_failure` is told once and the owner ends the process. Files:
// docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "model/compression.hpp"
#include "model/ids.hpp"
#include "storage/cache_budget.hpp"
#include "storage/log_manifest.hpp"
#include "storage/segment_bounds.hpp"

namespace braidmq::storage {

enum class errc {
  offset_out_of_range = 1,  // below the log start or above the log end
  corrupt,                  // bytes of a segment are not what was written: never served
  failed,                   // an earlier write failed
  removed,                  // the log is being removed
};
std::error_code make_error_code(errc code);

struct log_options {
  segment_bounds segments;
  std::uint32_t index_interval_bytes = 4096;  // bounds what a read has to skip
  std::size_t write_bytes = 4U << 20U;        // about what one disk task writes
  std::size_t cache_bytes = 1U << 20U;        // written batches that stay in memory for readers at the tail
  std::shared_ptr<cache_budget> cache;        // of all logs on the executor; null: only cache_bytes bounds each
  model::decode_limits decode;                // when the records of a batch are searched by time
  bool writes_when_told = false;              // by write_pending() and drain() alone; otherwise as soon as can be
};

// A stamped batch (base offset and leader epoch are in its header) ready to be stored. The other fields repeat the
// header, which the caller has parsed already.
struct stored_batch {
  bytes data;
  model::offset base;
  model::offset last;
  std::int64_t max_timestamp_ms = -1;
};

struct read_request {
  model::offset from;   // may lie in the middle of a batch: the batch that holds it comes first, whole
  model::offset limit;  // exclusive: batches that begin at or after it are not returned (visibility)
  std::size_t max_bytes = 0;
  bool at_least_one_batch = true;  // the first batch comes even when it is larger than max_bytes
};

struct timestamp_match {
  std::int64_t timestamp_ms;
  model::offset offset;
};

// What a log tells its owner, on the owner's executor.
struct log_callbacks {
  unique_function<void(std::size_t)> on_written;  // so many pending bytes are in the files now; optional
  unique_function<void(error)> on_failure;        // once
};

class partition_log {
 public:
  virtual ~partition_log() = default;

  // Without a file call, so that apply can make a partition in the middle of an entry: an empty log, whose folder is
  // made, and cleared of segments of an earlier life, by the first disk task.
  static std::unique_ptr<partition_log> create(io::file_system& fs, io::executor& disk, io::executor& owner,
                                               std::string folder, log_options options, log_callbacks callbacks);

  // Blocking (start-up) when the folder has content: what is there beyond `keep_below` is cut away and appended again
  // from the braid's log; the files at or above it are removed. What is kept is read and checked first, and nothing is
  // removed if it is not whole: errc::corrupt when offsets below `keep_below` are missing or damaged, or when it is not
  // where a batch begins. Files that are not segments are left alone. A new folder costs one mkdir.
  static result<std::unique_ptr<partition_log>> open(io::file_system& fs, io::executor& disk, io::executor& owner,
                                                     std::string folder, log_options options, model::offset keep_below,
                                                     log_callbacks callbacks);

  // The same by what a checkpoint remembers of the folder: its batches are not read, and prove themselves when they
  // are. What its last file has beyond that is cut later (cut_leftovers). errc::corrupt when files are missing or too
  // short.
  static result<std::unique_ptr<partition_log>> open(io::file_system& fs, io::executor& disk, io::executor& owner,
                                                     std::string folder, log_options options,
                                                     const log_manifest& manifest, log_callbacks callbacks);

  // Requires batch.base == end_offset(), or an empty log, which then starts there; and at most 2^31-1 bytes.
  virtual void append(stored_batch batch) = 0;

  // Begins to write what has been appended so far, if that has not been begun. Batches that were left to gather go
  // by few calls.
  virtual void write_pending() = 0;

  // From the next append on.
  virtual void set_segment_bounds(segment_bounds bounds) = 0;

  // Records below `start` are gone for readers. Segments of which nothing is left leave the log, and their files wait:
  // a checkpoint may speak of them. Requires start_offset() <= start <= end_offset().
  virtual void trim(model::offset start) = 0;
  // How many segments have left so far; and: the files of the first so many of them may be unlinked. An error of that
  // is told as one of a write.
  virtual std::uint64_t trimmed_segments() const = 0;
  virtual void remove_trimmed(std::uint64_t count) = 0;
  // The start that the log would have if it kept neither whole segments that are older than `oldest_ms` throughout nor
  // more than `max_bytes` (by whole segments, from the oldest one); none: no such bound.
  virtual model::offset retained_start(std::optional<std::int64_t> oldest_ms,
                                       std::optional<std::uint64_t> max_bytes) const = 0;

  virtual model::offset start_offset() const = 0;
  virtual model::offset end_offset() const = 0;   // next offset to be appended
  virtual std::uint64_t size_bytes() const = 0;   // files and pending
  virtual std::size_t pending_bytes() const = 0;  // appended, not yet written

  // Whole batches, in order, without a gap. Empty when from >= limit or from == end; offset_out_of_range below the
  // start and above the end. Pending and cached batches come from memory, others are read and checked by the disk
  // executor: bytes that are not what was written are errc::corrupt, never an answer. The answer is of the log as it
  // was at the call.
  virtual void read(read_request request, unique_function<void(result<std::vector<bytes>>)> done) = 0;

  // Smallest offset below `limit` whose record has a timestamp >= `timestamp_ms`; none when there is none. A limit is
  // where a batch begins (visibility moves by whole batches).
  virtual void find_timestamp(std::int64_t timestamp_ms, model::offset limit,
                              unique_function<void(result<std::optional<timestamp_match>>)> done) = 0;

  // Record with the highest timestamp below `limit` (KIP-734), the first if several have it; none when there is none.
  virtual void find_max_timestamp(model::offset limit,
                                  unique_function<void(result<std::optional<timestamp_match>>)> done) = 0;

  // The log as it stands now, for a checkpoint. A pin that is not carried through must be followed by no other: what it
  // would have synced is not offered again.
  virtual log_pin pin() = 0;

  // Writes what is pending; `done` runs when everything appended so far is in the files (not synced); errc::failed when
  // it never will be.
  virtual void drain(unique_function<void(status)> done) = 0;

  // What a checkpoint did not know of the files that it names is still there after open(), and is written over by what
  // is appended again. Everything has been: the rest of it goes.
  virtual void cut_leftovers() = 0;

  // The partition was deleted. Pending bytes are dropped (and no longer reported as written); reads, searches and the
  // write that are under way end as they would have; then the segment files are unlinked, and the folder when nothing
  // else is in it, and `done` runs. No other call may follow, and the log has to live until `done`. What a power cut
  // leaves behind is removed by the next log that is made in the folder, or by its remove(): also when that one never
  // wrote a byte.
  virtual void remove(unique_function<void(status)> done) = 0;
};

}  // namespace braidmq::storage

template <>
struct std::is_error_code_enum<braidmq::storage::errc> : std::true_type {};

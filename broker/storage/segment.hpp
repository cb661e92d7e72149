// What a log knows in memory about one of its segments: size, offsets, times, both indexes, and how much of it is in
// the files. Owner: the log, on its executor; only `files()` is shared with the disk executor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/record_batch.hpp"
#include "storage/log_manifest.hpp"
#include "storage/offset_index.hpp"
#include "storage/segment_bounds.hpp"
#include "storage/segment_files.hpp"
#include "storage/time_index.hpp"

namespace braidmq::storage {

class segment {
 public:
  segment(io::file_system& fs, const std::string& folder, model::offset base, std::uint32_t index_interval_bytes);

  model::offset base() const { return base_; }
  model::offset end() const { return end_; }  // next offset
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  std::int64_t max_timestamp_ms() const { return max_timestamp_ms_; }
  std::uint64_t largest_batch_bytes() const { return largest_batch_bytes_; }
  const offset_index& offsets() const { return offsets_; }
  const time_index& times() const { return times_; }
  const std::shared_ptr<segment_files>& files() const { return files_; }

  // Whether a batch with this last offset and time still belongs into this segment; an empty segment takes any.
  bool has_room(std::size_t batch_bytes, model::offset last, std::int64_t max_timestamp_ms,
                segment_bounds bounds) const;

  // Requires base == end().
  void append(model::offset base, model::offset last, std::int64_t max_timestamp_ms, std::size_t batch_bytes);

  // The write of the next `batches`, which end before offset `end`; it becomes true with mark_written.
  segment_write plan_write(std::vector<bytes> batches, model::offset end) const;
  void mark_written(std::uint64_t batch_bytes, model::offset end);
  segment_manifest manifest() const;
  // Into a segment that was just made, with the open files that a checkpoint speaks of. False, and nothing has changed,
  // when the index files are not those.
  bool restore(const segment_manifest& from, byte_view offset_file, byte_view time_file);

  // The files of a segment that was just restored are so long. Leftovers (segment_files.hpp) are what they have beyond
  // its end: while the log is applied again it becomes less.
  void set_file_sizes(const segment_file_sizes& found);
  bool has_leftovers() const;
  void forget_leftovers() { file_sizes_ = {}; }

  // Whether something was appended since the last call: it has to be synced once it is written.
  void set_unsynced() { unsynced_ = true; }
  bool take_unsynced() { return std::exchange(unsynced_, false); }
  // Whether the name of its file has to be made durable too: once, unless a checkpoint speaks of it.
  bool take_new_name() { return std::exchange(has_new_name_, false); }

  // Everything, and the index files are equal to the indexes (after a scan).
  status write_indexes_and_mark_written();

 private:
  model::offset base_;
  model::offset end_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  std::size_t offset_entries_written_ = 0;
  std::size_t time_entries_written_ = 0;
  std::int64_t first_timestamp_ms_ = model::no_timestamp;  // of the first batch that has one
  std::int64_t max_timestamp_ms_ = model::no_timestamp;
  std::uint64_t largest_batch_bytes_ = 0;
  bool unsynced_ = false;
  bool has_new_name_ = true;
  std::uint32_t index_interval_bytes_;
  std::uint64_t bytes_since_index_entry_ = 0;
  offset_index offsets_;
  time_index times_;
  segment_file_sizes file_sizes_;  // when it was restored
  std::shared_ptr<segment_files> files_;
};

}  // namespace braidmq::storage

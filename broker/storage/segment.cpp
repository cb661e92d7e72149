#include "storage/segment.hpp"

#include <algorithm>

namespace braidmq::storage {

segment::segment(io::file_system& fs, const std::string& folder, model::offset base, std::uint32_t index_interval_bytes)
    : base_(base),
      end_(base),
      index_interval_bytes_(index_interval_bytes),
      offsets_(base),
      times_(base),
      files_(std::make_shared<segment_files>(fs, folder, base)) {}

bool segment::has_room(std::size_t batch_bytes, model::offset last, std::int64_t max_timestamp_ms,
                       segment_bounds bounds) const {
  if (size_bytes_ == 0) return true;
  // Times of producers may be anything; the difference must not wrap.
  const bool is_late = first_timestamp_ms_ >= 0 && max_timestamp_ms > first_timestamp_ms_ &&
                       max_timestamp_ms - first_timestamp_ms_ > bounds.ms;
  if (is_late) return false;
  constexpr std::int64_t max_relative = std::numeric_limits<std::int32_t>::max();
  return size_bytes_ + batch_bytes <= bounds.bytes && last - base_ <= max_relative;
}

void segment::append(model::offset base, model::offset last, std::int64_t max_timestamp_ms, std::size_t batch_bytes) {
  BRAID_CHECK(base == end_ && last >= base, "batch {}..{} after {}", base, last, end_);
  if (bytes_since_index_entry_ >= index_interval_bytes_) {
    offsets_.append(base, static_cast<std::uint32_t>(size_bytes_));
    times_.append(max_timestamp_ms_, base);
    bytes_since_index_entry_ = 0;
  }
  end_ = last + 1;
  unsynced_ = true;
  size_bytes_ += batch_bytes;
  bytes_since_index_entry_ += batch_bytes;
  if (first_timestamp_ms_ < 0) first_timestamp_ms_ = max_timestamp_ms;
  max_timestamp_ms_ = std::max(max_timestamp_ms_, max_timestamp_ms);
  largest_batch_bytes_ = std::max<std::uint64_t>(largest_batch_bytes_, batch_bytes);
}

segment_write segment::plan_write(std::vector<bytes> batches, model::offset end) const {
  segment_write what;
  what.position = written_bytes_;
  what.batches = std::move(batches);
  what.offset_index_position = offset_entries_written_ * offset_index_entry_bytes;
  what.offset_index_entries = offsets_.encode(offset_entries_written_, offsets_.count_below(end));
  what.time_index_position = time_entries_written_ * time_index_entry_bytes;
  what.time_index_entries = times_.encode(time_entries_written_, times_.count_below(end));
  return what;
}

void segment::mark_written(std::uint64_t batch_bytes, model::offset end) {
  written_bytes_ += batch_bytes;
  offset_entries_written_ = offsets_.count_below(end);
  time_entries_written_ = times_.count_below(end);
}

segment_manifest segment::manifest() const {
  return {base_,
          end_,
          size_bytes_,
          first_timestamp_ms_,
          max_timestamp_ms_,
          largest_batch_bytes_,
          bytes_since_index_entry_,
          static_cast<std::uint32_t>(offsets_.size()),
          offsets_.crc(),
          times_.crc()};
}

bool segment::restore(const segment_manifest& from, byte_view offset_file, byte_view time_file) {
  offset_index offsets(base_);
  time_index times(base_);
  if (!offsets.restore(offset_file, from.index_entries, from.offset_index_crc) ||
      !times.restore(time_file, from.index_entries, from.time_index_crc)) {
    return false;
  }
  offsets_ = std::move(offsets);
  times_ = std::move(times);
  end_ = from.end;
  size_bytes_ = written_bytes_ = from.size_bytes;
  offset_entries_written_ = time_entries_written_ = from.index_entries;
  first_timestamp_ms_ = from.first_timestamp_ms;
  max_timestamp_ms_ = from.max_timestamp_ms;
  largest_batch_bytes_ = from.largest_batch_bytes;
  bytes_since_index_entry_ = from.bytes_since_index_entry;
  has_new_name_ = false;
  return true;
}

void segment::set_file_sizes(const segment_file_sizes& found) {
  file_sizes_ = found;
  files_->set_leftovers(
      found, {size_bytes_, offsets_.size() * offset_index_entry_bytes, times_.size() * time_index_entry_bytes});
}

bool segment::has_leftovers() const {
  return file_sizes_.log > size_bytes_ || file_sizes_.offset_index > offsets_.size() * offset_index_entry_bytes ||
         file_sizes_.time_index > times_.size() * time_index_entry_bytes;
}

status segment::write_indexes_and_mark_written() {
  BRAID_TRY_VOID(files_->replace_indexes(offsets_.encode(0, offsets_.size()), times_.encode(0, times_.size())));
  mark_written(size_bytes_ - written_bytes_, end_);
  return {};
}

}  // namespace braidmq::storage

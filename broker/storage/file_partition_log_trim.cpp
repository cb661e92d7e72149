// The log's part that lets go of bytes: of old records, and of what an earlier life has left behind.
#include <algorithm>

#include "storage/file_partition_log.hpp"

namespace braidmq::storage {

void file_partition_log::trim(model::offset start) {
  BRAID_CHECK(start >= start_ && start <= end_offset(), "trim to {} of {}..{}", start, start_, end_offset());
  start_ = start;
  drop_trimmed();
}

// Segments leave when the last of their bytes has been written: until then a write counts them by their place.
void file_partition_log::drop_trimmed() {
  if (in_flight_batches_ > 0 || removed_) return;
  while (!segments_.empty()) {
    const segment& oldest = *segments_.front();
    if (oldest.end() > start_ || oldest.written_bytes() != oldest.size_bytes()) return;
    size_bytes_ -= oldest.size_bytes();
    trimmed_.push_back(oldest.files());
    ++trimmed_count_;
    segments_.pop_front();
    if (write_segment_ > 0) --write_segment_;
  }
}

void file_partition_log::remove_trimmed(std::uint64_t count) {
  BRAID_CHECK(count <= trimmed_count_, "{} segments of {}", count, trimmed_count_);
  std::vector<std::shared_ptr<segment_files>> gone;
  for (std::uint64_t at = trimmed_count_ - trimmed_.size(); at < count; ++at) {
    gone.push_back(std::move(trimmed_.front()));
    trimmed_.pop_front();
  }
  if (gone.empty()) return;
  on_disk<void>(
      [gone = std::move(gone)]() -> status {
        for (const auto& files : gone) BRAID_TRY_VOID(files->remove());
        return {};
      },
      [this](status removed) {
        if (!removed) fail_log(std::move(removed).error());
      });
}

// Only where what was appended again ends before the files do: nowhere, unless segments end elsewhere now.
void file_partition_log::cut_leftovers() {
  std::vector<std::shared_ptr<segment_files>> longer;
  for (const auto& each : segments_) {
    if (each->has_leftovers()) longer.push_back(each->files());
    each->forget_leftovers();
  }
  if (longer.empty()) return;
  on_disk<void>(
      [longer = std::move(longer)]() -> status {
        for (const auto& files : longer) BRAID_TRY_VOID(files->cut_leftovers());
        return {};
      },
      [this](status cut) {
        if (!cut) fail_log(std::move(cut).error());
      });
}

model::offset file_partition_log::retained_start(std::optional<std::int64_t> oldest_ms,
                                                 std::optional<std::uint64_t> max_bytes) const {
  model::offset start = start_;
  std::uint64_t left = size_bytes_;
  for (const auto& each : segments_) {
    const bool is_old = oldest_ms && each->max_timestamp_ms() >= 0 && each->max_timestamp_ms() < *oldest_ms;
    const bool is_too_much = max_bytes && left >= *max_bytes && left - *max_bytes >= each->size_bytes();
    if (!is_old && !is_too_much) break;
    left -= each->size_bytes();
    start = std::max(start, each->end());
  }
  return start;
}

}  // namespace braidmq::storage

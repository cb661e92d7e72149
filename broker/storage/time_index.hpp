// Sparse index of one segment by time. An entry (T, O) says: T is the highest timestamp of all batches of this segment
// below offset O, and a batch begins at O. So nothing below O is as young as a time above T, and a search for it starts
// at O. Timestamps of batches need not rise, those of entries never fall. Derived, like offset_index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "model/ids.hpp"

namespace braidmq::storage {

struct time_entry {
  std::int64_t timestamp_ms;
  model::offset offset;

  friend bool operator==(const time_entry&, const time_entry&) = default;
};

class time_index {
 public:
  explicit time_index(model::offset base) : base_(base) {}

  // Requires that timestamps do not fall and that offsets rise. An entry that only repeats the last timestamp is worth
  // its bytes: it moves the start of a search past what one early record from the future would else keep in the way.
  void append(std::int64_t highest_timestamp_ms, model::offset offset);

  // Where a search for the first record at or after `timestamp_ms` starts.
  model::offset search_start(std::int64_t timestamp_ms) const;

  // The last entry at or below `offset`: the highest timestamp below that entry's offset is known without reading.
  std::optional<time_entry> floor(model::offset offset) const;

  std::size_t size() const { return entries_.size(); }
  std::size_t count_below(model::offset offset) const;
  // Entries first <= i < end, as they stand in the file.
  bytes encode(std::size_t first, std::size_t end) const;

  // As of offset_index.
  std::uint32_t crc() const { return crc_; }
  bool restore(byte_view file, std::size_t count, std::uint32_t crc);

 private:
  struct entry {
    std::int64_t timestamp_ms;
    std::uint32_t relative;
  };

  std::vector<entry>::const_iterator lower_bound(model::offset offset) const;

  model::offset base_;
  std::vector<entry> entries_;
  std::uint32_t crc_ = 0;
};

}  // namespace braidmq::storage

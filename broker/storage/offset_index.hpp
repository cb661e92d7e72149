// Sparse index of one segment: where batches begin, one entry per so many bytes. Derived from the segment's batches and
// kept in memory; the file is its copy. Owner: the log, on its executor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "model/ids.hpp"

namespace braidmq::storage {

struct index_position {
  model::offset offset;    // base offset of a batch
  std::uint32_t position;  // where that batch begins in the segment

  friend bool operator==(const index_position&, const index_position&) = default;
};

class offset_index {
 public:
  explicit offset_index(model::offset base) : base_(base) {}

  // Offsets and positions rise strictly from one entry to the next.
  void append(model::offset offset, std::uint32_t position);

  // The last entry at or below `offset`; the start of the segment when there is none.
  index_position floor(model::offset offset) const;
  // The first entry at or above `offset`; none when there is none.
  std::optional<index_position> ceiling(model::offset offset) const;

  std::size_t size() const { return entries_.size(); }
  std::size_t count_below(model::offset offset) const;
  // Entries first <= i < end, as they stand in the file.
  bytes encode(std::size_t first, std::size_t end) const;

  // CRC-32C of all entries as they stand in the file.
  std::uint32_t crc() const { return crc_; }
  // What `file` begins with, if those are `count` entries of this CRC; else nothing, and the index stays empty.
  bool restore(byte_view file, std::size_t count, std::uint32_t crc);

 private:
  struct entry {
    std::uint32_t relative;
    std::uint32_t position;
  };

  std::vector<entry>::const_iterator lower_bound(model::offset offset) const;

  model::offset base_;
  std::vector<entry> entries_;
  std::uint32_t crc_ = 0;
};

}  // namespace braidmq::storage

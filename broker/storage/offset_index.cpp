#include "storage/offset_index.hpp"

#include <algorithm>
#include <limits>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {

void offset_index::append(model::offset offset, std::uint32_t position) {
  const std::int64_t relative = offset - base_;
  BRAID_CHECK(relative >= 0 && relative <= std::numeric_limits<std::uint32_t>::max(), "offset {} from {}", offset,
              base_);
  const entry added{static_cast<std::uint32_t>(relative), position};
  BRAID_CHECK(
      entries_.empty() || (entries_.back().relative < added.relative && entries_.back().position < added.position),
      "offset {} at {} is out of order", offset, position);
  entries_.push_back(added);
  crc_ = crc32c(encode(entries_.size() - 1, entries_.size()), crc_);
}

bool offset_index::restore(byte_view file, std::size_t count, std::uint32_t crc) {
  if (file.size() / offset_index_entry_bytes < count) return false;
  const byte_view ours = file.first(count * offset_index_entry_bytes);
  if (crc32c(ours) != crc) return false;
  entries_.reserve(count);
  for (std::size_t at = 0; at < ours.size(); at += offset_index_entry_bytes) {
    entries_.push_back({load_be<std::uint32_t>(ours.data() + at), load_be<std::uint32_t>(ours.data() + at + 4)});
  }
  crc_ = crc;
  return true;
}

std::vector<offset_index::entry>::const_iterator offset_index::lower_bound(model::offset offset) const {
  return std::lower_bound(entries_.begin(), entries_.end(), offset - base_,
                          [](const entry& each, std::int64_t relative) { return each.relative < relative; });
}

index_position offset_index::floor(model::offset offset) const {
  const auto above = lower_bound(offset + 1);
  if (above == entries_.begin()) return {base_, 0};
  return {base_ + std::prev(above)->relative, std::prev(above)->position};
}

std::optional<index_position> offset_index::ceiling(model::offset offset) const {
  const auto found = lower_bound(offset);
  if (found == entries_.end()) return std::nullopt;
  return index_position{base_ + found->relative, found->position};
}

std::size_t offset_index::count_below(model::offset offset) const {
  return static_cast<std::size_t>(lower_bound(offset) - entries_.begin());
}

bytes offset_index::encode(std::size_t first, std::size_t end) const {
  byte_buffer buffer((end - first) * offset_index_entry_bytes);
  for (std::size_t i = first; i < end; ++i) {
    buffer.append_be(entries_[i].relative);
    buffer.append_be(entries_[i].position);
  }
  return buffer.freeze();
}

}  // namespace braidmq::storage

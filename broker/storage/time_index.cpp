#include "storage/time_index.hpp"

#include <algorithm>
#include <limits>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {

void time_index::append(std::int64_t highest_timestamp_ms, model::offset offset) {
  const std::int64_t relative = offset - base_;
  BRAID_CHECK(relative >= 0 && relative <= std::numeric_limits<std::uint32_t>::max(), "offset {} from {}", offset,
              base_);
  BRAID_CHECK(
      entries_.empty() || (entries_.back().timestamp_ms <= highest_timestamp_ms && entries_.back().relative < relative),
      "time {} at {} is out of order", highest_timestamp_ms, offset);
  entries_.push_back({highest_timestamp_ms, static_cast<std::uint32_t>(relative)});
  crc_ = crc32c(encode(entries_.size() - 1, entries_.size()), crc_);
}

bool time_index::restore(byte_view file, std::size_t count, std::uint32_t crc) {
  if (file.size() / time_index_entry_bytes < count) return false;
  const byte_view ours = file.first(count * time_index_entry_bytes);
  if (crc32c(ours) != crc) return false;
  entries_.reserve(count);
  for (std::size_t at = 0; at < ours.size(); at += time_index_entry_bytes) {
    entries_.push_back({load_be<std::int64_t>(ours.data() + at), load_be<std::uint32_t>(ours.data() + at + 8)});
  }
  crc_ = crc;
  return true;
}

model::offset time_index::search_start(std::int64_t timestamp_ms) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), timestamp_ms,
                                   [](const entry& each, std::int64_t time) { return each.timestamp_ms < time; });
  return at == entries_.begin() ? base_ : base_ + std::prev(at)->relative;
}

std::vector<time_index::entry>::const_iterator time_index::lower_bound(model::offset offset) const {
  return std::lower_bound(entries_.begin(), entries_.end(), offset - base_,
                          [](const entry& each, std::int64_t relative) { return each.relative < relative; });
}

std::optional<time_entry> time_index::floor(model::offset offset) const {
  const auto above = lower_bound(offset + 1);
  if (above == entries_.begin()) return std::nullopt;
  return time_entry{std::prev(above)->timestamp_ms, base_ + std::prev(above)->relative};
}

std::size_t time_index::count_below(model::offset offset) const {
  return static_cast<std::size_t>(lower_bound(offset) - entries_.begin());
}

bytes time_index::encode(std::size_t first, std::size_t end) const {
  byte_buffer buffer((end - first) * time_index_entry_bytes);
  for (std::size_t i = first; i < end; ++i) {
    buffer.append_be(entries_[i].timestamp_ms);
    buffer.append_be(entries_[i].relative);
  }
  return buffer.freeze();
}

}  // namespace braidmq::storage

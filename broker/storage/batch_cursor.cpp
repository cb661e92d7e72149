#include "storage/batch_cursor.hpp"

#include <algorithm>

#include "storage/partition_log.hpp"

namespace braidmq::storage {

batch_cursor::batch_cursor(std::vector<read_window> windows, std::optional<epoch_runs> epochs, std::size_t chunk_bytes)
    : windows_(std::move(windows)), epochs_(std::move(epochs)), chunk_bytes_(chunk_bytes) {
  if (windows_.empty()) return;
  position_ = windows_.front().position;
  expected_ = windows_.front().first;
}

tl::unexpected<error> batch_cursor::damaged(std::uint64_t position, const std::string& what) const {
  return fail(errc::corrupt,
              fmt::format("{} at position {} (offset {}): {}", window().files->log_path(), position, expected_, what));
}

// Makes chunk_ hold at least `length` bytes from position_. Requires length <= left().
status batch_cursor::load(std::uint64_t length) {
  if (position_ >= chunk_position_ && position_ + length <= chunk_position_ + chunk_.size()) return {};
  std::vector<std::byte> block(std::min<std::uint64_t>(std::max<std::uint64_t>(length, chunk_bytes_), left()));
  BRAID_TRY_VOID(window().files->read(position_, block));
  chunk_ = bytes::take(std::move(block));
  chunk_position_ = position_;
  return {};
}

result<model::batch_header> batch_cursor::check_header() const {
  const auto parsed = model::parse_batch_header(chunk_.view().subspan(position_ - chunk_position_));
  if (!parsed) return damaged(position_, parsed.error().to_string());
  const model::batch_header& header = *parsed;
  if (header.base_offset != expected_) return damaged(position_, fmt::format("base offset {}", header.base_offset));
  if (header.last_offset_delta < 0) return damaged(position_, fmt::format("offset delta {}", header.last_offset_delta));
  if (header.size_bytes() > left() || header.size_bytes() > window().max_batch_bytes) {
    return damaged(position_, fmt::format("batch of {} bytes", header.size_bytes()));
  }
  if (epochs_ && epochs_->at(header.base_offset) != header.partition_leader_epoch) {
    return damaged(position_, fmt::format("leader epoch {}", header.partition_leader_epoch));
  }
  return header;
}

result<std::optional<stored_view>> batch_cursor::next(crc_check when) {
  while (at_ < windows_.size() && left() == 0) {
    ++at_;
    chunk_ = {};
    if (at_ == windows_.size()) break;
    position_ = window().position;
    expected_ = window().first;
  }
  if (at_ >= windows_.size()) return std::optional<stored_view>();
  if (left() < model::batch_layout::header_bytes) return damaged(position_, "the file ends inside a batch");
  BRAID_TRY_VOID(load(model::batch_layout::header_bytes));
  BRAID_TRY(header, check_header());
  BRAID_TRY_VOID(load(header.size_bytes()));
  stored_view found{header, chunk_.slice(position_ - chunk_position_, header.size_bytes())};
  last_position_ = position_;
  position_ += header.size_bytes();
  if (when == crc_check::now) BRAID_TRY_VOID(verify(found));
  expected_ = header.last_offset() + 1;
  return std::optional(std::move(found));
}

status batch_cursor::verify(const stored_view& batch) const {
  if (model::batch_crc_matches(batch.data)) return {};
  return fail(errc::corrupt, fmt::format("{} at position {} (offset {}): CRC does not match",
                                         window().files->log_path(), last_position_, batch.header.base_offset));
}

}  // namespace braidmq::storage

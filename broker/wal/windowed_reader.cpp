#include "wal/windowed_reader.hpp"

#include <algorithm>

namespace braidmq::wal {
namespace {

constexpr std::size_t largest_window_bytes = std::size_t{1} << 20U;

}  // namespace

result<byte_view> windowed_reader::read(std::uint64_t position, std::size_t size) {
  if (position < begin_ || position + size > begin_ + window_.size()) {
    window_.resize(std::max(size, window_bytes_));
    window_bytes_ = std::min(2 * window_bytes_, largest_window_bytes);
    begin_ = position;
    auto got = file_->read_at(position, window_);
    window_.resize(got ? *got : 0);
    if (!got) return tl::unexpected<error>(std::move(got).error());
  }
  const std::size_t skip = position - begin_;
  return byte_view(window_).subspan(skip, std::min(size, window_.size() - skip));
}

}  // namespace braidmq::wal

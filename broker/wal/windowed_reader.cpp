#include "wal/windowed_reader.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace braidmq::wal {
namespace {

constexpr std::size_t largest_window_bytes = std::size_t{4} << 20U;

constexpr std::size_t whole_blocks(std::size_t size) {
  return (size + io::direct_block_bytes - 1) / io::direct_block_bytes * io::direct_block_bytes;
}

}  // namespace

void windowed_reader::free_memory::operator()(std::byte* block) const {
  std::free(block);
}

void windowed_reader::make_window(std::size_t size) {
  if (size <= capacity_) return;
  window_.reset();
  capacity_ = 0;
  window_.reset(static_cast<std::byte*>(std::aligned_alloc(io::direct_block_bytes, size)));
  if (window_ == nullptr) throw std::bad_alloc();
  capacity_ = size;
}

result<byte_view> windowed_reader::read(std::uint64_t position, std::size_t size) {
  if (position < begin_ || position + size > begin_ + size_) {
    const std::size_t wanted = whole_blocks(std::max(size, next_window_bytes_));
    next_window_bytes_ = std::min(2 * next_window_bytes_, largest_window_bytes);
    size_ = 0;
    make_window(wanted);
    BRAID_TRY(got, file_->read_at(position, {window_.get(), wanted}));
    begin_ = position;
    size_ = got;
  }
  const std::size_t skip = position - begin_;
  return byte_view(window_.get(), size_).subspan(skip, std::min(size, size_ - skip));
}

}  // namespace braidmq::wal

#include "io/posix_direct_io.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

#include <unistd.h>

#include "base/check.hpp"
#include "io/file_system.hpp"

namespace braidmq::io {
namespace {

constexpr std::size_t most_buffer_bytes = std::size_t{1} << 20U;

constexpr std::size_t whole_blocks(std::size_t size) {
  return (size + direct_block_bytes - 1) / direct_block_bytes * direct_block_bytes;
}

struct free_memory {
  void operator()(std::byte* block) const { std::free(block); }
};
using aligned_buffer = std::unique_ptr<std::byte, free_memory>;

aligned_buffer make_buffer(std::size_t size) {
  auto* block = static_cast<std::byte*>(std::aligned_alloc(direct_block_bytes, size));
  if (block == nullptr) throw std::bad_alloc();
  return aligned_buffer(block);
}

bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % direct_block_bytes == 0;
}

// Up to the end of the file.
std::optional<std::size_t> read_blocks(int fd, std::uint64_t position, std::byte* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, to + done, size - done, static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
    // Only the end of the file leaves a part of a block.
    if (got == 0 || done % direct_block_bytes != 0) break;
  }
  return done;
}

bool write_blocks(int fd, std::uint64_t position, const std::byte* from, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t put = ::pwrite(fd, from + done, size - done, static_cast<off_t>(position + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    if (put == 0 || static_cast<std::size_t>(put) % direct_block_bytes != 0) {
      errno = EIO;  // no progress, or a part of a block: the rest could not be written
      return false;
    }
    done += static_cast<std::size_t>(put);
  }
  return true;
}

// Takes the parts' bytes one after the other.
class gatherer {
 public:
  explicit gatherer(std::span<const byte_view> parts) : parts_(parts) {}

  void take(std::byte* to, std::size_t size) {
    while (size > 0) {
      const byte_view rest = parts_.front().subspan(taken_);
      const std::size_t some = std::min(size, rest.size());
      std::copy_n(rest.begin(), some, to);
      to += some;
      size -= some;
      taken_ += some;
      if (taken_ < parts_.front().size()) continue;
      parts_ = parts_.subspan(1);
      taken_ = 0;
    }
  }

 private:
  std::span<const byte_view> parts_;
  std::size_t taken_ = 0;  // of the first of them
};

}  // namespace

std::optional<std::size_t> direct_read(int fd, std::uint64_t position, mutable_byte_view target) {
  if (target.empty()) return 0;
  if (position % direct_block_bytes == 0 && target.size() % direct_block_bytes == 0 && is_aligned(target.data())) {
    return read_blocks(fd, position, target.data(), target.size());
  }
  std::size_t skip = position % direct_block_bytes;
  std::size_t done = 0;
  const auto buffer = make_buffer(std::min(most_buffer_bytes, whole_blocks(skip + target.size())));
  while (done < target.size()) {
    const std::size_t wanted = std::min(most_buffer_bytes, whole_blocks(skip + target.size() - done));
    const auto got = read_blocks(fd, position + done - skip, buffer.get(), wanted);
    if (!got) return std::nullopt;
    if (*got <= skip) break;
    const std::size_t taken = std::min(*got - skip, target.size() - done);
    std::copy_n(buffer.get() + skip, taken, target.data() + done);
    done += taken;
    skip = 0;
    if (*got < wanted) break;
  }
  return done;
}

bool direct_write(int fd, std::uint64_t position, std::span<const byte_view> parts) {
  std::size_t size = 0;
  for (const byte_view part : parts) size += part.size();
  BRAID_CHECK(position % direct_block_bytes == 0 && size % direct_block_bytes == 0,
              "direct write of {} bytes at {}: not whole blocks", size, position);
  if (size == 0) return true;
  if (parts.size() == 1 && is_aligned(parts.front().data())) {
    return write_blocks(fd, position, parts.front().data(), size);
  }
  const auto buffer = make_buffer(std::min(most_buffer_bytes, size));
  gatherer source(parts);
  while (size > 0) {
    const std::size_t some = std::min(most_buffer_bytes, size);
    source.take(buffer.get(), some);
    if (!write_blocks(fd, position, buffer.get(), some)) return false;
    position += some;
    size -= some;
  }
  return true;
}

}  // namespace braidmq::io

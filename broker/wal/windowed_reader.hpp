// Reads one file from front to back in large pieces: what follows in the file mostly has been read already when it is
// asked for. Blocking; one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/file_system.hpp"

namespace braidmq::wal {

class windowed_reader {
 public:
  // The first window has this size, each further one twice as much up to 4 MiB: most files end soon, or are long.
  explicit windowed_reader(std::shared_ptr<const io::file> file,
                           std::size_t first_window_bytes = std::size_t{16} << 10U)
      : file_(std::move(file)), next_window_bytes_(first_window_bytes) {}

  // Valid until the next call; shorter than asked for only at the end of the file.
  result<byte_view> read(std::uint64_t position, std::size_t size);

 private:
  struct free_memory {
    void operator()(std::byte* block) const;
  };

  // As a direct read wants it, so that the device fills it without a copy.
  void make_window(std::size_t size);

  std::shared_ptr<const io::file> file_;
  std::uint64_t begin_ = 0;
  std::size_t next_window_bytes_;
  std::unique_ptr<std::byte, free_memory> window_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;  // of what was read
};

}  // namespace braidmq::wal

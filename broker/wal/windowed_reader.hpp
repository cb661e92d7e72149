// Reads one file from front to back in large pieces: what follows in the file mostly has been read already when it is
// asked for. Blocking; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/file_system.hpp"

namespace braidmq::wal {

class windowed_reader {
 public:
  explicit windowed_reader(std::shared_ptr<const io::file> file) : file_(std::move(file)) {}

  // Valid until the next call; shorter than asked for only at the end of the file.
  result<byte_view> read(std::uint64_t position, std::size_t size);

 private:
  std::shared_ptr<const io::file> file_;
  std::uint64_t begin_ = 0;
  std::size_t window_bytes_ = std::size_t{16} << 10U;  // grows: most files end soon, or are long
  std::vector<std::byte> window_;
};

}  // namespace braidmq::wal

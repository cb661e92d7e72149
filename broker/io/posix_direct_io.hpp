// Reads and writes past the page cache (O_DIRECT), for callers whose memory lies anywhere: what is not aligned goes
// through a bounded buffer that is. Blocking; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"

namespace braidmq::io {

// Fewer bytes than asked for only at the end of the file. Nothing: errno says why.
std::optional<std::size_t> direct_read(int fd, std::uint64_t position, mutable_byte_view target);

// Position and size of all parts together must be whole blocks (direct_block_bytes). False: errno says why.
bool direct_write(int fd, std::uint64_t position, std::span<const byte_view> parts);

}  // namespace braidmq::io

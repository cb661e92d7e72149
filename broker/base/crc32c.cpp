#include "base/crc32c.hpp"

#include <algorithm>
#include <limits>

#include <isa-l/crc.h>

namespace braidmq {

std::uint32_t crc32c(byte_view data, std::uint32_t previous) {
  // ISA-L takes an int length and leaves the pre- and post-inversion to the caller.
  constexpr std::size_t step = std::numeric_limits<int>::max();
  std::uint32_t state = ~previous;
  while (!data.empty()) {
    const std::size_t length = std::min(data.size(), step);
    auto* from = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(data.data()));
    state = crc32_iscsi(from, static_cast<int>(length), state);
    data = data.subspan(length);
  }
  return ~state;
}

}  // namespace braidmq

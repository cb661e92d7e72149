#include "base/state_hash.hpp"

// Inlined, the compiler uses the instructions of our target; the library's own build is for the oldest.
#define XXH_INLINE_ALL
#include <array>

#include <xxhash.h>

#include "base/endian.hpp"

namespace braidmq {

std::string hash128::to_string() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

hash128 hash_of(byte_view row) {
  const XXH128_hash_t hash = XXH3_128bits(row.data(), row.size());
  return {hash.high64, hash.low64};
}

hash128 hash_chain(const hash128& before, byte_view block) {
  const hash128 own = hash_of(block);
  std::array<std::byte, 32> link;
  store_be(link.data(), before.high);
  store_be(link.data() + 8, before.low);
  store_be(link.data() + 16, own.high);
  store_be(link.data() + 24, own.low);
  return hash_of(link);
}

}  // namespace braidmq

// CRC-32C (Castagnoli), the checksum of record batches and of everything that we write to disk.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace braidmq {

// crc32c("123456789") == 0xe3069283. Chains: crc32c(b, crc32c(a)) == crc32c(a + b).
std::uint32_t crc32c(byte_view data, std::uint32_t previous = 0);

}  // namespace braidmq

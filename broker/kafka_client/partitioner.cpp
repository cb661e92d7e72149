#include "kafka_client/partitioner.hpp"

#include "base/check.hpp"

namespace braidmq::kafka_client {

std::uint32_t murmur2(std::string_view data) {
  constexpr std::uint32_t seed = 0x9747b28c;
  constexpr std::uint32_t m = 0x5bd1e995;
  const auto at = [&data](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(data[i])}; };
  std::uint32_t h = seed ^ static_cast<std::uint32_t>(data.size());
  std::size_t i = 0;
  for (; i + 4 <= data.size(); i += 4) {
    std::uint32_t k = at(i) | at(i + 1) << 8U | at(i + 2) << 16U | at(i + 3) << 24U;
    k *= m;
    k ^= k >> 24U;
    k *= m;
    h = h * m ^ k;
  }
  const std::size_t left = data.size() - i;
  if (left >= 3) h ^= at(i + 2) << 16U;
  if (left >= 2) h ^= at(i + 1) << 8U;
  if (left >= 1) h = (h ^ at(i)) * m;
  h ^= h >> 13U;
  h *= m;
  h ^= h >> 15U;
  return h;
}

std::int32_t partition_of_key(std::string_view key, std::int32_t partitions) {
  BRAID_CHECK(partitions > 0, "{} partitions", partitions);
  return static_cast<std::int32_t>(murmur2(key) & 0x7fffffffU) % partitions;
}

}  // namespace braidmq::kafka_client

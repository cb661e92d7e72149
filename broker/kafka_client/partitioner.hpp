// Which partition a key belongs to: the rule of the Java client, so that tools and applications agree.
#pragma once

#include <cstdint>
#include <string_view>

namespace braidmq::kafka_client {

// MurmurHash2 as Java's client computes it (its seed is 0x9747b28c).
std::uint32_t murmur2(std::string_view data);

// Requires partitions > 0.
std::int32_t partition_of_key(std::string_view key, std::int32_t partitions);

}  // namespace braidmq::kafka_client

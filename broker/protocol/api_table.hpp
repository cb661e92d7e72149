// Every API that has a schema, generated from the schemas. What a broker serves of them is the server's own list, which
// must lie within this one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace braidmq::protocol {

enum class api_key : std::int16_t {
#define BRAID_API(key, text, type, ...) type = key,
#include "protocol/generated/api_table.inc"
#undef BRAID_API
};

struct api_description {
  api_key key;
  std::string_view name;  // Kafka's: "ApiVersions"
  std::int16_t min_version;
  std::int16_t max_version;
  std::int16_t latest_stable_version;  // below max_version while Kafka calls the newest one unstable
  std::int16_t first_flexible_request;
  std::int16_t first_flexible_response;

  bool has_version(std::int16_t version) const { return min_version <= version && version <= max_version; }
  // KIP-482: header 2 and 1 carry tagged fields. An ApiVersions response always has header 0, because the client cannot
  // know yet what the broker speaks (KIP-511).
  std::int16_t request_header_version(std::int16_t version) const { return version >= first_flexible_request ? 2 : 1; }
  std::int16_t response_header_version(std::int16_t version) const {
    return key != api_key::api_versions && version >= first_flexible_response ? 1 : 0;
  }
};

// By rising key.
std::span<const api_description> api_table();
// Null for a key without a schema.
const api_description* find_api(std::int16_t key);

}  // namespace braidmq::protocol

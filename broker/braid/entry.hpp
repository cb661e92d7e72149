// What an entry of a braid's log says. The bytes are those of the record `BraidEntry` (protocol/schema); batches are
// slices of the entry's own block, not copies.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace braidmq::braid {

// One partition's part of a produce request: exactly one validated record batch, as the client sent it.
struct append_slice {
  model::topic_partition_id target;
  bytes batch;
};

// One request: the unit that answers together.
struct produce_unit {
  std::vector<append_slice> slices;
};

// Idempotent by (topic id, partition): a creation that is there already changes nothing.
struct partition_creation {
  model::topic_partition_id target;
  std::int32_t epoch_base = 0;
  std::uint64_t metadata_index = 0;  // the entry of the metadata log that asked for it
};

struct entry_command {
  std::int64_t leader_time_ms = 0;  // never below the one of an earlier entry
  std::vector<partition_creation> creations;
  std::vector<produce_unit> units;
};

bytes encode(const entry_command& command);
result<entry_command> decode(const bytes& payload);

// Upper bound of what a slice adds to an entry beyond its batch.
inline constexpr std::size_t slice_overhead_bytes = 32;

}  // namespace braidmq::braid

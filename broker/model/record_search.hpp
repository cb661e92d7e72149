// Finds single records by time in one whole stored batch (ListOffsets by timestamp, KIP-734 max timestamp). Records are
// decoded in a stream under `limits`; stored batches were validated, so a failure means damage or a lower limit.
//
// Pure; any thread. Errors: invalid_record, message_too_large, unsupported_compression.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/compression.hpp"
#include "model/ids.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

struct timestamped_offset {
  model::offset offset;
  std::int64_t timestamp_ms = no_timestamp;

  friend bool operator==(const timestamped_offset&, const timestamped_offset&) = default;
};

// The first record whose timestamp is >= `timestamp_ms` and whose offset is >= `from`; none when there is none.
result<std::optional<timestamped_offset>> find_first_at_or_after(byte_view batch, std::int64_t timestamp_ms,
                                                                 offset from, const decode_limits& limits);

// The first of the records with the highest timestamp; none when the batch holds no record (compaction leaves such).
result<std::optional<timestamped_offset>> find_max_timestamp(byte_view batch, const decode_limits& limits);

}  // namespace braidmq::model

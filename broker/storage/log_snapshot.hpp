// What one read or search looks at: parts of segment files, then batches in memory. Taken on the owner's executor,
// used on the disk executor; it owns all that it needs, so that nothing that happens to the log meanwhile matters.
// Errors: errc::corrupt, and those of the files.
#pragma once

#include <optional>
#include <vector>

#include "storage/batch_cursor.hpp"
#include "storage/epoch_runs.hpp"
#include "storage/partition_log.hpp"

namespace braidmq::storage {

struct log_snapshot {
  std::vector<read_window> windows;  // they end where an index entry says so, which may be after `files_end`
  epoch_runs epochs;
  model::offset files_end;  // batches at or after it are taken from memory, or not wanted
  std::vector<bytes> memory;
};

// Whole batches from the one that holds request.from. Memory: request.max_bytes or one batch, and what lies between two
// index entries.
result<std::vector<bytes>> read_batches(log_snapshot from, const read_request& request,
                                        std::uint32_t index_interval_bytes);

// The first record at or after `timestamp_ms`, if it is below `limit`.
result<std::optional<timestamp_match>> find_first_at_or_after(log_snapshot in, std::int64_t timestamp_ms,
                                                              model::offset limit, const model::decode_limits& limits);

// The highest timestamp that a batch below `limit` has; no_timestamp when there is no batch.
result<std::int64_t> highest_timestamp(log_snapshot in, model::offset limit);

}  // namespace braidmq::storage

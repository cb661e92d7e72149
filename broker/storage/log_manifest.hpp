// What a checkpoint remembers of a partition's files: enough to open them again without reading their batches. The
// bytes below the sizes that are named here were synced before the checkpoint was; each batch proves itself by its own
// CRC when it is read. Indexes are proven as a whole, and made anew from the batches when their files are not those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "model/ids.hpp"
#include "storage/epoch_runs.hpp"

namespace braidmq::storage {

struct segment_manifest {
  model::offset base;
  model::offset end;
  std::uint64_t size_bytes = 0;
  std::int64_t first_timestamp_ms = -1;  // -1: no batch has one, or a checkpoint did not say
  std::int64_t max_timestamp_ms = -1;
  std::uint64_t largest_batch_bytes = 0;
  std::uint64_t bytes_since_index_entry = 0;
  std::uint32_t index_entries = 0;  // of both indexes
  std::uint32_t offset_index_crc = 0;
  std::uint32_t time_index_crc = 0;

  friend bool operator==(const segment_manifest&, const segment_manifest&) = default;
};

struct log_manifest {
  model::offset start;
  model::offset end;
  std::vector<segment_manifest> segments;  // without a gap; the last one ends at `end`
  epoch_runs epochs;
};

// A log at one moment. What `manifest` says is on disk for good once the log has been drained after the pin and then
// each of `syncs` has been run (blocking, on any thread, in any order, each with success).
struct log_pin {
  log_manifest manifest;
  std::vector<unique_function<status()>> syncs;
};

}  // namespace braidmq::storage

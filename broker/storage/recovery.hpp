// What opening a partition's folder does: keep the batches below an offset, proven by their CRCs, and cut the rest
// away. Blocking, at start-up. Interrupted at any point and repeated, it comes to the same result. Nothing is removed
// before everything that is to be kept was read and found good; files with other names are left alone.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "storage/epoch_runs.hpp"
#include "storage/partition_log.hpp"
#include "storage/segment.hpp"

namespace braidmq::storage {

struct recovered_log {
  std::deque<std::unique_ptr<segment>> segments;  // in order, none empty; they end at keep_below
  epoch_runs epochs;
};

// errc::corrupt when bytes below `keep_below` are missing or damaged, or when it is inside a batch.
result<recovered_log> recover(io::file_system& fs, const std::string& folder, const log_options& options,
                              model::offset keep_below);

}  // namespace braidmq::storage

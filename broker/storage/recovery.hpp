// What opening a partition's folder does: keep the batches below an offset, proven by their CRCs, and take the rest
// away. Blocking, at start-up. Interrupted at any point and repeated, it comes to the same result. Nothing is removed
// before everything that is to be kept was read and found good; files with other names are left alone.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "storage/epoch_runs.hpp"
#include "storage/log_manifest.hpp"
#include "storage/partition_log.hpp"
#include "storage/segment.hpp"

namespace braidmq::storage {

struct recovered_log {
  std::deque<std::unique_ptr<segment>> segments;  // in order, none empty; they end at keep_below
  epoch_runs epochs;
  model::offset start;
};

// The same by what a checkpoint remembers: batches are not read, but where an index file is not the one that it was.
// What the files of its segments have beyond it stays for now (segment_files.hpp). errc::corrupt when a file is missing
// or too short.
result<recovered_log> restore(io::file_system& fs, const std::string& folder, const log_options& options,
                              const log_manifest& manifest);

// The segments of a log that is not wanted any more, and the folder when nothing else is in it. A folder that is not
// there is no error.
status remove_segments(io::file_system& fs, const std::string& folder);

// errc::corrupt when bytes below `keep_below` are missing or damaged, or when it is inside a batch.
result<recovered_log> recover(io::file_system& fs, const std::string& folder, const log_options& options,
                              model::offset keep_below);

}  // namespace braidmq::storage

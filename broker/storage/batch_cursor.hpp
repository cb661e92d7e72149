// Walks over stored batches in parts of segment files and lets nothing pass that is not what was written: each batch
// must begin at the expected offset, have the leader epoch that the log remembers, end inside its part, and match its
// CRC. Runs on the disk executor; owns nothing of the log, so the log may be gone.
// Errors: errc::corrupt, and those of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/record_batch.hpp"
#include "storage/epoch_runs.hpp"
#include "storage/segment_files.hpp"

namespace braidmq::storage {

// Whole batches of one segment file.
struct read_window {
  std::shared_ptr<const segment_files> files;
  std::uint64_t position = 0;
  std::uint64_t end = 0;
  model::offset first;                // base offset of the batch at `position`
  std::uint64_t max_batch_bytes = 0;  // no batch of the segment is longer: bounds what a damaged length can ask for
};

struct stored_view {
  model::batch_header header;
  bytes data;
};

enum class crc_check { now, later };

class batch_cursor {
 public:
  // `epochs` is not compared when it is none. About `chunk_bytes` are read at once.
  batch_cursor(std::vector<read_window> windows, std::optional<epoch_runs> epochs, std::size_t chunk_bytes);

  // The next batch; none at the end of the last window. With crc_check::later the caller calls `verify` before it
  // believes anything of the batch but its offsets.
  result<std::optional<stored_view>> next(crc_check when);

  // Checks the CRC of the batch that `next` gave last.
  status verify(const stored_view& batch) const;

 private:
  status load(std::uint64_t length);
  tl::unexpected<error> damaged(std::uint64_t position, const std::string& what) const;
  result<model::batch_header> check_header() const;

  const read_window& window() const { return windows_[at_]; }
  std::uint64_t left() const { return window().end - position_; }

  std::vector<read_window> windows_;
  std::optional<epoch_runs> epochs_;
  std::size_t chunk_bytes_;
  std::size_t at_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t last_position_ = 0;
  model::offset expected_;
  bytes chunk_;
  std::uint64_t chunk_position_ = 0;
};

}  // namespace braidmq::storage

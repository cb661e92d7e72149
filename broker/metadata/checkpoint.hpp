// An image as the frames of a checkpoint file, there and back (docs/formats/checkpoint.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/file_system.hpp"
#include "metadata/image.hpp"
#include "multiraft/checkpointer.hpp"

namespace braidmq::metadata {

std::unique_ptr<multiraft::pinned_state> pin_for_checkpoint(image_ptr from);

struct loaded_image {
  image_ptr image;  // null: there is no checkpoint
  raft::term term;  // of the last entry that it holds
};

// Blocking, at start-up. Errors: those of the file, and multiraft::errc::checkpoint_damaged, checkpoint_format.
result<loaded_image> read_checkpoint(io::file_system& fs, const std::string& path, raft::group_id group);

}  // namespace braidmq::metadata

// A braid's state as the frames of a checkpoint file, there and back (docs/formats/checkpoint.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "braid/machine.hpp"
#include "io/file_system.hpp"
#include "multiraft/checkpoint_file.hpp"
#include "multiraft/checkpointer.hpp"

namespace braidmq::braid {

// Pins the state that `from` has now. Owner's executor.
std::unique_ptr<multiraft::pinned_state> pin_for_checkpoint(machine& from);

// Blocking, at start-up. None when there is no checkpoint at `path`. Errors: those of the file, and
// multiraft::errc::checkpoint_damaged, checkpoint_format (also: of a higher level of apply than `newest_level`).
result<std::optional<machine_state>> read_checkpoint(io::file_system& fs, const std::string& path, raft::group_id group,
                                                     std::int16_t newest_level = newest_apply_level);

}  // namespace braidmq::braid

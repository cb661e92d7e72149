// The replica's part that has to do with checkpoints: where it starts from, and what it lets go of.
#include <utility>

#include "braid/checkpoint.hpp"
#include "braid/replica.hpp"
#include "braid/replica_logs.hpp"
#include "storage/recovery.hpp"

namespace braidmq::braid {

status replica::load(machine_state from) {
  status restored = machine_.restore(std::move(from), [this](const pinned_partition& one) { return logs_->open(one); });
  if (restored) return {};
  return tl::unexpected<error>(with_context(std::move(restored).error(), "checkpoint " + options_.checkpoint.path));
}

// Whatever the checkpoint does not know was deleted before it, or made after it: then the log makes it once more.
status replica::remove_orphans() {
  BRAID_TRY(names, environment_.fs.list(options_.data_folder));
  for (const std::string& name : names) {
    const auto id = model::parse_topic_partition_id(name);
    if (!id || machine_.find(*id) != nullptr) continue;
    BRAID_TRY_VOID(storage::remove_segments(environment_.fs, options_.data_folder + "/" + name));
  }
  return {};
}

std::unique_ptr<multiraft::pinned_state> replica::pin() {
  pinned_trims_.clear();
  for (const auto& [id, one] : machine_.partitions()) {
    if (const std::uint64_t count = one->log().trimmed_segments(); count > 0) pinned_trims_.emplace_back(id, count);
  }
  return pin_for_checkpoint(machine_);
}

void replica::set_disk_full(bool is_full) {
  disk_full_ = is_full;
  if (!is_full) return;
  // What waits would still be written; only what is under way is.
  for (const request_id id : aggregator_.take_requests()) answer(id, fail(errc::disk_full));
  sweep();
  checkpointer_.request();
}

void replica::let_go_of_log() {
  const raft::index last = retention_.dispensable(environment_.wal.statistics().bytes_written, group_->held_by_all());
  if (last == raft::index(0)) return;
  group_->compacted(last);
  environment_.wal.release(options_.group.id, last + 1);
}

void replica::checkpointed(raft::index index) {
  retention_.checkpointed(index, environment_.wal.statistics().bytes_written);
  let_go_of_log();
  for (const auto& [id, count] : std::exchange(pinned_trims_, {})) {
    if (partition::partition* one = machine_.find(id)) one->log().remove_trimmed(count);
  }
  std::vector<model::topic_partition_id> free;
  for (const auto& [id, one] : retired_) {
    if (one.at <= index && !one.removing) free.push_back(id);
  }
  for (const model::topic_partition_id& id : free) remove_files(id);
}

}  // namespace braidmq::braid

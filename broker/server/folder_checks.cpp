#include "server/folder_checks.hpp"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "metadata/command.hpp"
#include "storage/data_folder.hpp"
#include "wal/inspect.hpp"

namespace braidmq::server {
namespace {

result<bool> holds_something(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(is_there, fs.exists(folder));
  if (!is_there) return false;
  BRAID_TRY(names, fs.list(folder));
  return !names.empty();
}

class founding final : public wal::visitor {
 public:
  explicit founding(raft::group_id group) : group_(group) {}

  void on_file(const std::string& /*path*/, const wal::format::file_header& /*header*/) override {}
  void on_states(const wal::format::group_header& /*group*/, const wal::format::group_states& /*states*/) override {}
  void on_mark(const wal::format::group_header& /*group*/) override {}
  void on_end(const std::string& /*path*/, std::uint64_t /*position*/, std::uint64_t /*torn_bytes*/) override {}
  void on_items(const wal::format::group_header& /*header*/, const std::vector<wal::append_item>& items) override {
    for (const wal::append_item& item : items) {
      if (item.group != group_) continue;
      for (const raft::entry& entry : item.entries) look(entry);
    }
  }

  const uuid& cluster() const { return cluster_; }

 private:
  // The first one counts, as for the state machine.
  void look(const raft::entry& entry) {
    if (!cluster_.is_zero() || entry.kind != raft::entry_kind::command) return;
    const auto command = metadata::decode(entry.payload);
    if (!command) return;
    if (const auto* founded = std::get_if<metadata::found_cluster>(&*command)) cluster_ = founded->cluster_id;
  }

  raft::group_id group_;
  uuid cluster_;
};

}  // namespace

broker_folders::broker_folders(std::string data, std::string wal)
    : data_dir(std::move(data)),
      wal_dir(std::move(wal)),
      metadata_log(wal_dir + "/metadata"),
      braid_log(wal_dir + "/braid"),
      partitions(data_dir + "/partitions"),
      checkpoints(data_dir + "/checkpoints"),
      metadata_checkpoint(checkpoints + "/metadata"),
      braid_checkpoint(checkpoints + "/braid") {}

// Partitions have folders only when both logs have told of them durably. A log that is empty beside them is a lost one,
// and to begin anew would remove the segments, the last copy of the records.
status check_whole(io::file_system& fs, const broker_folders& folders) {
  BRAID_TRY(has_partitions, holds_something(fs, folders.partitions));
  for (const std::string& log : {folders.metadata_log, folders.braid_log}) {
    BRAID_TRY(has_log, holds_something(fs, log));
    if (has_log || !has_partitions) continue;
    return fail(
        storage::folder_errc::volume_lost,
        fmt::format("{} is empty, but {} holds partitions: put the log back; or, to begin anew without these records, "
                    "move all of {} and {} away",
                    log, folders.partitions, folders.data_dir, folders.wal_dir));
  }
  BRAID_TRY(has_folder, fs.exists(folders.partitions));
  if (has_folder) return {};
  BRAID_TRY(has_checkpoint, fs.exists(folders.braid_checkpoint));
  if (!has_checkpoint) return {};
  return fail(storage::folder_errc::volume_lost, fmt::format("{} is missing, but {} tells of what it held: put it back",
                                                             folders.partitions, folders.braid_checkpoint));
}

result<uuid> cluster_in_log(io::file_system& fs, const std::string& metadata_log, raft::group_id group) {
  founding found(group);
  BRAID_TRY_VOID(wal::inspect(fs, metadata_log, found));
  return found.cluster();
}

error explained(error why, const std::string& checkpoint, const std::string& log) {
  if (why.code != wal::errc::not_retained) return why;
  return with_context(std::move(why),
                      fmt::format("{} is missing or older than what {} has let go of: put the checkpoint back that "
                                  "belongs to this log",
                                  checkpoint, log));
}

}  // namespace braidmq::server

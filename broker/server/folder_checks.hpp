// What is wrong with folders that are ours but not whole, or not of this cluster: found before anything in them
// changes. Blocking; at start-up.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/uuid.hpp"
#include "io/file_system.hpp"
#include "raft/types.hpp"

namespace braidmq::server {

// The parts of data.dir and wal.dir.
struct broker_folders {
  broker_folders(std::string data_dir, std::string wal_dir);

  std::string data_dir;
  std::string wal_dir;
  std::string metadata_log;
  std::string braid_log;
  std::string partitions;
  std::string checkpoints;
  std::string metadata_checkpoint;  // files
  std::string braid_checkpoint;
};

// Whether a log, or the folder of all partitions, is lost beside others that tell of it:
// storage::folder_errc::volume_lost.
status check_whole(io::file_system& fs, const broker_folders& folders);

// The cluster that the metadata log has founded; zero: it does not say (any more).
result<uuid> cluster_in_log(io::file_system& fs, const std::string& metadata_log, raft::group_id group);

// In words, when a plane could not be opened because its log begins after what its state knows.
error explained(error why, const std::string& checkpoint, const std::string& log);

}  // namespace braidmq::server

// Planted bugs: what the checkers must find, or they prove nothing. Each is a defect that such a broker could have.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "multiraft/group.hpp"
#include "net/frame_handler.hpp"
#include "wal/log.hpp"

namespace braidmq::sim {

enum class plant {
  none,
  skip_fsync,           // the disk says that it synced, and did not
  lost_dirsync,         // names of new files are not synced
  early_ack,            // the write-ahead log reports durable what it has only been given
  forget_sequences,     // producers' sequences are not looked at
  torn_visibility,      // one partition of an answer ends earlier than the others
  visible_too_far,      // a fetch tells an end that is one record beyond
  secret_ends,          // a fetch session keeps quiet about an end that moved
  unsynced_segments,    // a checkpoint speaks of bytes that were not synced
  unsynced_checkpoint,  // the checkpoint's file takes its place before its bytes are on disk
  checkpoint_ahead,     // the checkpoint says that it stands one entry further than it does
  early_unlink,         // files go after a checkpoint whose place in the folder is not durable yet
  early_release,        // the log lets go of entries after the checkpoint
  half_atomic,          // a refused atomic write leaves behind what its good slices brought
  forget_log_starts,    // moves of log starts are left out when the log is applied again after a start
  early_expiry,         // producers are forgotten when they have been idle for a twentieth of the time
  forget_deletions,     // deletions of topics are left out when the metadata log is applied again after a start
  // Of several brokers:
  early_vote,         // a vote counts, and is given, before it is durable
  old_terms_counted,  // a leader takes entries of older terms for committed because a majority has them
  serves_early,       // a new leader serves before it has applied what its predecessors had committed
  commit_ahead,       // followers are told that what they are sent is committed
  wrong_term_answer,  // what another leader's entry has taken the place of is answered by that entry
};

// Whether it can only be seen where brokers replicate.
bool needs_peers(plant which);

std::optional<plant> parse_plant(std::string_view name);
std::span<const std::pair<std::string_view, plant>> named_plants();
std::string plant_names();

using wal_wrapper = std::function<std::unique_ptr<wal::log>(std::unique_ptr<wal::log>)>;
wal_wrapper wal_plant(plant which, io::executor& owner);           // empty when the bug is elsewhere
wal_wrapper metadata_wal_plant(plant which, io::executor& owner);  // likewise

// Null when the bug is elsewhere.
std::unique_ptr<net::frame_handler> frame_plant(plant which, net::frame_handler& target);

// world/cluster_plants.cpp. Null, or empty, when the bug is elsewhere.
std::unique_ptr<wal::log> early_vote_plant(std::unique_ptr<wal::log> target, io::executor& owner);
std::function<std::unique_ptr<multiraft::group>(std::unique_ptr<multiraft::group>)> group_plant(plant which);
std::unique_ptr<multiraft::transport> peer_plant(plant which, multiraft::transport& target);

}  // namespace braidmq::sim

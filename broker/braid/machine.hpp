// The state that a braid's log makes: its topics, as far as apply needs them, and its partitions. apply() is the same
// code on every replica, in log order, and a function of entry and state alone: no clock, no local configuration, no
// metadata image, no hash order. By which rules is part of the state, too (entry.hpp, newest_apply_level).
//
// Threads: the braid's executor. Readers see a partition only up to its visible end, and all visible ends move together
// in publish(): an entry's partitions are seen all or none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/paged_map.hpp"
#include "base/result.hpp"
#include "base/state_hash.hpp"
#include "braid/entry.hpp"
#include "braid/errc.hpp"
#include "partition/partition.hpp"
#include "raft/types.hpp"

namespace braidmq::braid {

using config_values = std::map<std::string, std::string>;

// Makes the log of a partition when the entry that creates it is applied. Must not block.
class log_factory {
 public:
  virtual ~log_factory() = default;
  virtual std::unique_ptr<storage::partition_log> make(const model::topic_partition_id& id) = 0;
  // The topic of the log has these configs now. They may change how the log keeps its bytes, never what readers see.
  virtual void configure(storage::partition_log& log, const config_values& configs) = 0;
};

struct slice_outcome {
  std::error_code error;  // none: appended, or a duplicate of a batch that was
  bool duplicate = false;
  model::offset base{-1};
  std::int64_t append_time_ms = -1;
  model::offset log_start{-1};
};

struct unit_outcome {
  std::vector<slice_outcome> slices;
};

struct published {
  const partition::partition* partition;
  std::size_t bytes;
};

// What the braid's log says of a topic. What apply goes by is taken from here, never from the metadata image: replicas
// hear of that at different moments. (Today apply goes by no config; timestamps are settled before a batch is
// proposed.)
struct topic_state {
  std::uint64_t config_index = 0;  // of the metadata log; 0: no config has been applied
  config_values configs;

  friend bool operator==(const topic_state&, const topic_state&) = default;
};

using topic_rows = paged_map<model::topic_id, topic_state, 64>;

struct pinned_partition {
  model::topic_partition_id id;
  partition::partition_rows rows;
  storage::log_pin log;
};

// The whole state at one index. Copies share the pages of the machine's tables (base/paged_map says who may do what).
struct machine_state {
  raft::index applied;
  std::int64_t last_entry_time_ms = 0;
  std::uint64_t last_deletion_index = 0;
  std::int16_t level = 0;  // of apply; 0: no entry has said one, the rules of level 1 hold
  hash128 hash;
  topic_rows topics;
  std::vector<pinned_partition> partitions;  // sorted by id
  raft::term applied_term = {};              // of the entry at `applied`; only as it is read from a checkpoint
};

class machine {
 public:
  // Knows the rules of all levels up to `newest_level`.
  explicit machine(log_factory& logs, std::int16_t newest_level = newest_apply_level)
      : logs_(logs), newest_level_(newest_level) {}

  // Into a machine that has applied nothing. `open` gives the log of a partition; its errors are passed on.
  // multiraft::errc::checkpoint_damaged when the rows are not what `from.hash` says; errc::later_version.
  status restore(
      machine_state from,
      const std::function<result<std::unique_ptr<storage::partition_log>>(const pinned_partition& partition)>& open);
  machine_state pin();
  // Equal on replicas that have applied the same entries, whatever they were restored from.
  hash128 hash() const;

  // One outcome for each unit of the entry, in order. errc::later_version: the entry is in a form, or asks for a level,
  // that is not known here. Then nothing has changed, and the owner must stop: no later entry can be applied.
  result<std::vector<unit_outcome>> apply(const raft::entry& entry);

  // Makes everything applied so far visible at once; returns the partitions that grew, in order of their first append.
  std::vector<published> publish();

  raft::index applied_index() const { return applied_; }
  raft::index visible_index() const { return visible_; }
  std::int64_t last_entry_time_ms() const { return last_entry_time_ms_; }
  std::int16_t level() const { return level_; }

  // Partitions whose deletion was applied since the last call: the owner ends their logs.
  std::vector<std::unique_ptr<partition::partition>> take_deleted() { return std::exchange(deleted_, {}); }

  partition::partition* find(const model::topic_partition_id& id);
  const partition::partition* find(const model::topic_partition_id& id) const;
  const topic_state* find_topic(const model::topic_id& id) const;
  std::size_t topic_count() const { return topics_.size(); }
  std::size_t producer_count() const { return producer_count_; }  // of all partitions
  // Forgotten since the start of this machine, because they were idle for long.
  std::uint64_t producers_expired() const { return producers_expired_; }
  // And because a partition had too many.
  std::uint64_t producers_evicted() const { return producers_evicted_; }
  // The largest metadata index of all deletions that were applied.
  std::uint64_t last_deletion_index() const { return last_deletion_index_; }
  const std::map<model::topic_partition_id, std::unique_ptr<partition::partition>>& partitions() const {
    return partitions_;
  }

 private:
  std::string too_new(std::string_view what, raft::index at, std::int16_t level) const;
  void create(const partition_creation& creation);
  void set_topic(const model::topic_id& id, topic_state state);
  void configure(topic_config config);
  void configure_log(const model::topic_partition_id& id, partition::partition& of);
  void remove(const topic_deletion& deletion);
  void expire(const producer_expiry& expiry);
  unit_outcome append(const produce_unit& unit, raft::term term);
  std::vector<std::error_code> check_together(std::span<const append_slice> slices) const;
  slice_outcome append(const append_slice& slice, raft::term term);

  log_factory& logs_;
  const std::int16_t newest_level_;
  std::int16_t level_ = 0;
  std::map<model::topic_partition_id, std::unique_ptr<partition::partition>> partitions_;
  topic_rows topics_;
  hash128 topics_hash_;  // sum over the rows
  std::uint64_t last_deletion_index_ = 0;
  std::size_t producer_count_ = 0;  // these three are no part of the state
  std::uint64_t producers_expired_ = 0;
  std::uint64_t producers_evicted_ = 0;
  std::vector<std::unique_ptr<partition::partition>> deleted_;
  std::vector<partition::partition*> dirty_;
  raft::index applied_;
  raft::index visible_;
  std::int64_t last_entry_time_ms_ = 0;
};

}  // namespace braidmq::braid

// What an entry of a braid's log says. The bytes are those of the record `BraidEntry` (protocol/schema); batches are
// slices of the entry's own block, not copies.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace braidmq::braid {

// One partition's part of a produce request: exactly one validated record batch, as the client sent it.
struct append_slice {
  model::topic_partition_id target;
  bytes batch;
};

// One request: the unit that answers together.
struct produce_unit {
  std::vector<append_slice> slices;
  std::size_t atomic_slices = 0;  // so many of the first are written together or not at all
};

// What the metadata log says of topics, carried over into the braid's log by its leader. Each is idempotent by (topic
// id, metadata index): a leader that knows less than an earlier one changes nothing.

// The partition was to be there at `metadata_index`. One that is there already changes nothing; nor does one of a topic
// that this braid does not have, when a deletion of a later index was applied: the topic may have been deleted by it.
struct partition_creation {
  model::topic_partition_id target;
  std::int32_t epoch_base = 0;
  std::uint64_t metadata_index = 0;
};

// Everything that is set on a topic as of its change at `metadata_index`; an older one changes nothing.
struct topic_config {
  model::topic_id topic;
  std::uint64_t metadata_index = 0;
  std::map<std::string, std::string> values;
};

// All partitions of the topic, their records, producers and configs go.
struct topic_deletion {
  model::topic_id topic;
  std::uint64_t metadata_index = 0;
};

// Records of a partition below `start` are gone. One that is not above the present start changes nothing; one above the
// end is taken for the end.
struct log_start_move {
  model::topic_partition_id target;
  model::offset start;
};

// Those of `producers` whose last entry in the partition has a time of at most `idle_since_ms` are forgotten: whoever
// has written since this was proposed stays.
struct producer_expiry {
  model::topic_partition_id target;
  std::int64_t idle_since_ms = 0;
  std::vector<model::producer_id> producers;
};

// What apply does with an entry. A change of it that is not the same on replicas of two versions is a new level, which
// an entry switches on when all members know it; apply goes by the level of its state. So is a new version of the
// entry's record: members that know only a lower level must be able to read what is written before.
inline constexpr std::int16_t newest_apply_level = 1;

struct entry_command {
  std::int64_t leader_time_ms = 0;            // never below the one of an earlier entry
  std::int16_t apply_level = 0;               // raises the level, before all else; 0: leaves it as it is
  std::vector<partition_creation> creations;  // applied in the order in which they stand here
  std::vector<topic_config> configs;
  std::vector<topic_deletion> deletions;
  std::vector<log_start_move> log_starts;
  std::vector<producer_expiry> expiries;
  std::vector<produce_unit> units;
};

// The version of the record in which entries are written while the state has this level. Of the members of the group no
// more is known than that they know the level, and with it the version.
std::int16_t entry_version(std::int16_t apply_level);
// `apply_level`: of the state of who proposes it. What the version of that level cannot say is never left out in
// silence: a command may hold only what belongs to the level.
bytes encode(const entry_command& command, std::int16_t apply_level = newest_apply_level);
bytes encode_in_version(const entry_command& command, std::int16_t version);
result<entry_command> decode(const bytes& payload);

// Upper bound of what a slice adds to an entry beyond its batch.
inline constexpr std::size_t slice_overhead_bytes = 32;
// Upper bounds of their bytes in an entry.
std::size_t config_size(const topic_config& config);
std::size_t expiry_size(const producer_expiry& expiry);

}  // namespace braidmq::braid

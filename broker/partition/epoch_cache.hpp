// Which leader epoch wrote which offsets of a partition: the answer to OffsetForLeaderEpoch and the fence of KIP-320.
#pragma once

#include <optional>
#include <vector>

#include "model/ids.hpp"
#include "storage/epoch_runs.hpp"

namespace braidmq::partition {

struct epoch_end {
  model::leader_epoch epoch;  // the largest epoch at or below the one asked for
  model::offset end;          // where the next larger one begins, or the log end
};

class epoch_cache {
 public:
  // A batch of `epoch` was appended at `start`. Epochs never fall along a log.
  void record(model::leader_epoch epoch, model::offset start);

  std::optional<model::leader_epoch> latest() const;
  // From a log's runs, which say the same.
  void restore(const storage::epoch_runs& runs);

  // None when every epoch in the log is larger than `epoch`.
  std::optional<epoch_end> end_of(model::leader_epoch epoch, model::offset log_end) const;

  // Where the first epoch that is known begins.
  std::optional<model::offset> first_start() const;

  // The epoch that wrote `offset`; none below the first known one.
  std::optional<model::leader_epoch> epoch_of(model::offset offset) const;

 private:
  struct start {
    model::leader_epoch epoch;
    model::offset offset;
  };
  std::vector<start> starts_;  // rising in both
};

}  // namespace braidmq::partition

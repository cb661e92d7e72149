// Which leader epoch the batches of a log were stamped with, as runs of offsets. The CRC of a batch does not cover its
// leader epoch, so what comes back from a disk is compared with this. A run ends only where leadership changed.
#pragma once

#include <vector>

#include "model/ids.hpp"

namespace braidmq::storage {

class epoch_runs {
 public:
  struct run {
    model::offset first;
    model::leader_epoch epoch;

    friend bool operator==(const run&, const run&) = default;
  };

  // Batches come in the order of their offsets.
  void append(model::offset base, model::leader_epoch epoch);

  // Requires that a batch at or below `offset` was appended.
  model::leader_epoch at(model::offset offset) const;

  // The runs that speak of offsets from `from` on.
  epoch_runs from(model::offset from) const;

  const std::vector<run>& all() const { return runs_; }

 private:
  std::vector<run>::const_iterator run_of(model::offset offset) const;

  std::vector<run> runs_;
};

}  // namespace braidmq::storage

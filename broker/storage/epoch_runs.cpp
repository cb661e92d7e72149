#include "storage/epoch_runs.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::storage {

void epoch_runs::append(model::offset base, model::leader_epoch epoch) {
  if (runs_.empty() || runs_.back().epoch != epoch) runs_.push_back({base, epoch});
}

std::vector<epoch_runs::run>::const_iterator epoch_runs::run_of(model::offset offset) const {
  const auto above = std::upper_bound(runs_.begin(), runs_.end(), offset,
                                      [](model::offset value, const run& each) { return value < each.first; });
  BRAID_CHECK(above != runs_.begin(), "no batch at or below offset {}", offset);
  return std::prev(above);
}

model::leader_epoch epoch_runs::at(model::offset offset) const {
  return run_of(offset)->epoch;
}

epoch_runs epoch_runs::from(model::offset from) const {
  epoch_runs part;
  if (!runs_.empty()) part.runs_.assign(run_of(from), runs_.end());
  return part;
}

}  // namespace braidmq::storage

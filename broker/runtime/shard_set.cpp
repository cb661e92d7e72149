#include "runtime/shard_set.hpp"

#include "base/check.hpp"

namespace braidmq::runtime {

shard_set::shard_set(unsigned count, const io::clock& clock) {
  BRAID_CHECK(count > 0, "a process needs a shard");
  for (unsigned index = 0; index < count; ++index) shards_.push_back(std::make_unique<shard>(index, clock));
}

// All threads end before the first shard goes: work on one may post to another.
shard_set::~shard_set() {
  stop();
}

void shard_set::start() {
  for (auto& one : shards_) one->start();
}

void shard_set::stop() {
  for (auto& one : shards_) one->stop();
}

shard& shard_set::at(std::size_t index) {
  BRAID_CHECK(index < shards_.size(), "shard {} of {}", index, shards_.size());
  return *shards_[index];
}

const shard& shard_set::at(std::size_t index) const {
  BRAID_CHECK(index < shards_.size(), "shard {} of {}", index, shards_.size());
  return *shards_[index];
}

}  // namespace braidmq::runtime

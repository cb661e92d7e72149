// All shards of a process. Fixed from start to stop; any thread may look one up.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/shard.hpp"

namespace braidmq::runtime {

class shard_set {
 public:
  // count > 0: see shard_count() in resources.hpp. The threads do not run before start(), so that what lives on a shard
  // can be built by the owner first.
  explicit shard_set(unsigned count, const io::clock& clock = io::system_clock());
  ~shard_set();

  void start();
  // Stops and joins all; work still queued is dropped.
  void stop();

  std::size_t size() const { return shards_.size(); }
  shard& at(std::size_t index);
  const shard& at(std::size_t index) const;

  // Runs a copy of `work` on each shard, with the shard.
  template <class Work>
  void post_to_all(const Work& work) {
    for (auto& one : shards_) {
      one->post([&shard = *one, work]() mutable { work(shard); });
    }
  }

 private:
  std::vector<std::unique_ptr<shard>> shards_;
};

}  // namespace braidmq::runtime

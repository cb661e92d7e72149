// How much memory the logs of one executor may keep for readers at their tails.
// Owner: that executor; logs share it.
#pragma once

#include <cstddef>

namespace braidmq::storage {

// What the written batches of all logs of an executor may take together. Each log gives up its own oldest ones when it
// writes while all have too much.
struct cache_budget {
  std::size_t max_bytes = 0;
  std::size_t used_bytes = 0;  // with what a batch costs beside its bytes
};

}  // namespace braidmq::storage

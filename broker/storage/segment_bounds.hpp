// When a partition's log begins a new segment. Segments are a matter of each replica's own files: what readers see does
// not depend on them.
#pragma once

#include <cstdint>

namespace braidmq::storage {

struct segment_bounds {
  std::uint64_t bytes = 1ULL << 30U;  // a segment is longer only if it is one batch; at most 2^31-1
  // A segment ends before a batch that is younger than its first one by more than this: what is written slowly can be
  // let go of, too.
  std::int64_t ms = 604'800'000;
};

}  // namespace braidmq::storage

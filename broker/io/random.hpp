// The only source of chance below `runtime`: ids, incarnations, election jitter.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/uuid.hpp"

namespace braidmq::io {

class random_source {
 public:
  virtual ~random_source() = default;

  virtual void fill(mutable_byte_view target) = 0;

  std::uint64_t next_u64();
  uuid next_uuid();  // version 4
};

// The operating system's generator; any thread may use it.
random_source& system_random();

}  // namespace braidmq::io

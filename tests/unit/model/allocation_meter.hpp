// Counts the bytes that the whole program holds on the heap, C libraries included. One thread.
#pragma once

#include <cstddef>

namespace braidmq::model {

class allocation_meter {
 public:
  allocation_meter();  // starts to measure

  // Highest number of bytes held at once since the start, beyond those held at the start.
  std::size_t peak_bytes() const;

 private:
  long long at_start_;
};

}  // namespace braidmq::model

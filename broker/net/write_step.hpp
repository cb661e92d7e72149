// What goes to a stream by one write, of bytes that wait: little enough that a slow reader that still takes something
// is seen to be alive, in few enough parts for one call of the system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace braidmq::net {

struct write_step {
  std::vector<bytes> parts;
  std::size_t size_bytes = 0;
};

// From the front of `outgoing`; nothing when it is empty. A part that is too large is taken in pieces.
inline write_step take_write_step(std::deque<bytes>& outgoing) {
  constexpr std::size_t most_bytes = std::size_t{256} * 1024;
  constexpr std::size_t most_parts = 64;
  write_step step;
  step.parts.reserve(std::min(outgoing.size(), most_parts));
  while (!outgoing.empty() && step.size_bytes < most_bytes && step.parts.size() < most_parts) {
    bytes& next = outgoing.front();
    const std::size_t length = std::min(next.size(), most_bytes - step.size_bytes);
    step.size_bytes += length;
    if (length < next.size()) {
      step.parts.push_back(next.slice(0, length));
      next = next.slice(length);
    } else {
      step.parts.push_back(std::move(next));
      outgoing.pop_front();
    }
  }
  return step;
}

}  // namespace braidmq::net

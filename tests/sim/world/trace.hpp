// The event hash: a running hash over every scheduling choice, file operation and delivered piece of a frame. Two runs
// of one seed must end with the same one; where they part, something outside of the seed had a say.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace braidmq::sim {

// What happened, so that equal numbers of different kinds do not hash alike.
enum class event : std::uint8_t { task, time, file, frame, fault, client };

class trace {
 public:
  void mix(event what, std::uint64_t value) {
    hash_ = scramble(hash_ ^ (value + (static_cast<std::uint64_t>(what) << 56U)));
    ++events_;
  }
  void mix(event what, byte_view block);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t events() const { return events_; }

 private:
  static std::uint64_t scramble(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  std::uint64_t hash_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace braidmq::sim

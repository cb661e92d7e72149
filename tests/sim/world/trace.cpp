#include "world/trace.hpp"

#include <xxhash.h>

namespace braidmq::sim {

void trace::mix(event what, byte_view block) {
  mix(what, XXH3_64bits(block.data(), block.size()));
}

}  // namespace braidmq::sim

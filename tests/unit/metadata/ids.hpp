// Ids that can be told apart at a glance.
#pragma once

#include "base/uuid.hpp"

namespace braidmq::metadata {

inline uuid id_of(std::uint8_t first) {
  uuid id;
  id.octets[0] = first;
  return id;
}

}  // namespace braidmq::metadata

// What a broker has said of itself in the metadata log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.hpp"

namespace braidmq::metadata {

// Under which address clients reach one of a broker's listeners.
struct advertised_listener {
  std::string name;
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const advertised_listener&, const advertised_listener&) = default;
};

struct broker_registration {
  uuid incarnation;       // the life that has claimed the id; another one is refused
  bool draining = false;  // takes no leadership any more
  std::vector<advertised_listener> listeners;
  std::optional<std::string> rack = std::nullopt;  // where it stands: readers in the same rack may read from it

  // Null when the address is not known.
  const advertised_listener* find(const std::string& listener) const {
    for (const auto& one : listeners) {
      if (one.name == listener) return &one;
    }
    return nullptr;
  }
  friend bool operator==(const broker_registration&, const broker_registration&) = default;
};

}  // namespace braidmq::metadata

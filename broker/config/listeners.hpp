// "PLAINTEXT://127.0.0.1:9092,INTERNAL://:9094": names and addresses, as in Kafka's listeners and advertised.listeners.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/endpoint.hpp"

namespace braidmq::config {

struct listener {
  std::string name;
  io::endpoint address;

  friend bool operator==(const listener&, const listener&) = default;
};

// Names and ports (but 0) may occur once.
result<std::vector<listener>> parse_listeners(std::string_view text);

// Names by commas, each one of `listeners` and given once.
result<std::vector<std::string>> parse_names(std::string_view text, const std::vector<listener>& listeners);

// What clients are told of the listeners that are not `pushed`: `advertised` where given, else where we listen. An
// error when a name is not a listener's or is pushed, or when the address would be "all addresses", to which nobody can
// connect.
result<std::vector<listener>> advertise(const std::vector<listener>& listeners, const std::vector<listener>& advertised,
                                        const std::vector<std::string>& pushed);

}  // namespace braidmq::config

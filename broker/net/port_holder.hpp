// Who listens on a port, and which one is free: for the message of a listener that cannot start. Blocks on /proc and on
// the kernel; start-up only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::net {

// "process 812 (java)" when this user may see it. `root` stands before /proc, for tests.
std::optional<std::string> find_port_holder(std::uint16_t port, const std::string& root = "");

// The first port above `after` on which this process could listen, of the next 100.
std::optional<std::uint16_t> next_free_port(const std::string& host, std::uint16_t after);

// address_in_use: "cannot listen on 127.0.0.1:9092: process 812 (java) listens there; 9093 is free".
error address_in_use(const io::endpoint& wanted);

}  // namespace braidmq::net

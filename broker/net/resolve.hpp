// Inside of net: names to addresses. Blocks; start-up only.
#pragma once

#include <asio/ip/tcp.hpp>

#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::net {

// The address to bind to. An empty host means all addresses, IPv6 and IPv4 where the machine has IPv6.
result<asio::ip::tcp::endpoint> resolve_to_listen(const io::endpoint& wanted);

}  // namespace braidmq::net

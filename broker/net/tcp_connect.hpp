// Outgoing TCP connections: to other brokers, later to Kafka clusters that are mirrored.
#pragma once

#include <memory>

#include "io/clock.hpp"
#include "io/endpoint.hpp"
#include "io/stream.hpp"
#include "runtime/shard.hpp"

namespace braidmq::net {

// Resolves and connects. Called on the shard; `done` runs there, once, never inside this call: a stream of that shard,
// or bad_address, not_reachable or timed_out.
void tcp_connect(runtime::shard& on, const io::endpoint& to, io::duration timeout,
                 unique_function<void(result<std::unique_ptr<io::stream>>)> done);

}  // namespace braidmq::net

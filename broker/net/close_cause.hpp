// Why a connection ended, in few kinds: a metric label. The reason in words goes to the log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace braidmq::net {

enum class close_cause : std::uint8_t {
  peer_closed,       // the other end went away
  bad_frame_length,  // zero or negative
  frame_too_large,   // above socket.request.max.bytes
  foreign_protocol,  // a TLS hello or an HTTP request on a plaintext Kafka port
  frame_timeout,     // a frame was started and did not come
  idle,              // connections.max.idle.ms without a byte in either direction
  handler_error,     // the handler refused the request by ending the connection
  write_failed,
  write_timeout,   // the peer takes no answer
  stopped,         // this broker stops
  too_many,        // above max.connections
  too_many_of_ip,  // above max.connections.per.ip
};
inline constexpr std::size_t close_cause_count = 12;

std::string_view to_string(close_cause cause);

// Connections ended, by cause. Plain counters of one shard.
struct close_counters {
  std::array<std::uint64_t, close_cause_count> by_cause{};

  std::uint64_t& operator[](close_cause cause) { return by_cause[static_cast<std::size_t>(cause)]; }
  std::uint64_t operator[](close_cause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
};

}  // namespace braidmq::net

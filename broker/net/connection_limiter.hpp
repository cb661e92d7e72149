// Counts the connections of a listener, in all and by address, over all shards. Each listener has its own, so that
// clients cannot use up what brokers need among themselves. Any thread; taken once per connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/close_cause.hpp"

namespace braidmq::net {

class connection_limiter {
 public:
  connection_limiter(std::size_t max_connections, std::size_t max_connections_per_ip)
      : max_connections_(max_connections), max_per_ip_(max_connections_per_ip) {}

  // Nothing: the connection may stay, and leave() is owed. Else why it may not.
  std::optional<close_cause> enter(const std::string& ip);
  void leave(const std::string& ip);

  std::uint64_t next_id() { return ++last_id_; }
  std::size_t connections() const;

 private:
  const std::size_t max_connections_;
  const std::size_t max_per_ip_;
  std::atomic<std::uint64_t> last_id_{0};
  mutable std::mutex mutex_;
  std::size_t connections_ = 0;
  std::unordered_map<std::string, std::size_t> by_ip_;
};

// "10.0.0.7:51234" -> "10.0.0.7", "[::1]:51234" -> "[::1]"
std::string ip_of(std::string_view remote);

}  // namespace braidmq::net

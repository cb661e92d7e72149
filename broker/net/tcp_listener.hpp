// Listens on one address and deals new connections out to the shards in turn: exact balance, and an occupied port is an
// error (SO_REUSEPORT would let a second process share it unseen).
//
// Made and destroyed by the owner; goes before the shards do, while they run or after they have stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/unique_function.hpp"
#include "io/endpoint.hpp"
#include "io/stream.hpp"
#include "runtime/shard_set.hpp"

namespace braidmq::net {

struct listener_counters {
  std::uint64_t accepted = 0;
  std::uint64_t accept_errors = 0;  // of the operating system: out of file descriptors
};

class tcp_listener {
 public:
  // Runs on the shard that the stream belongs to.
  using connected_callback = std::function<void(runtime::shard& on, std::unique_ptr<io::stream> stream)>;

  // Binds at once (start-up only: it may resolve a name), accepts as soon as the shards run. Errors: bad_address;
  // address_in_use, whose message names the holder and a free port; not_reachable (no such address, no permission).
  static result<std::unique_ptr<tcp_listener>> open(const io::endpoint& at, runtime::shard_set& shards,
                                                    connected_callback on_connected);
  static result<std::unique_ptr<tcp_listener>> open(const io::endpoint& at, std::vector<runtime::shard*> shards,
                                                    connected_callback on_connected);
  // The same in two steps: the port is taken, but connections are refused until listen(). `done` runs on the first
  // shard with address_in_use or not_reachable; listening twice does nothing.
  static result<std::unique_ptr<tcp_listener>> bind(const io::endpoint& at, runtime::shard_set& shards,
                                                    connected_callback on_connected);
  static result<std::unique_ptr<tcp_listener>> bind(const io::endpoint& at, std::vector<runtime::shard*> shards,
                                                    connected_callback on_connected);
  void listen(unique_function<void(status)> done);
  ~tcp_listener();

  // No new connection is taken after this; the port is free soon after.
  void stop();

  std::uint16_t port() const { return port_; }
  listener_counters counters() const;

 private:
  struct state;
  explicit tcp_listener(std::shared_ptr<state> of);

  std::shared_ptr<state> state_;
  std::uint16_t port_;
};

}  // namespace braidmq::net

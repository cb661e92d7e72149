// All connections of one listener on one shard: admits them within the limits, owns them, counts their ends, and ends
// them gracefully. On its shard only (it may be made before the shard runs, and goes after the shard has stopped).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "net/connection.hpp"
#include "net/connection_limiter.hpp"

namespace braidmq::net {

class connection_set {
 public:
  // For the log: called for every connection that ends or is not admitted. `reason` may hold words of the peer's
  // making; the log escapes them.
  using ended_callback = unique_function<void(const connection_info&, close_cause, const std::string& reason)>;

  connection_set(connection_context context, std::string listener, const connection_limits& limits,
                 frame_handler& handler, std::shared_ptr<connection_limiter> limiter, ended_callback on_ended);
  ~connection_set();

  connection_set(const connection_set&) = delete;
  connection_set& operator=(const connection_set&) = delete;

  // Takes a new connection, or closes it when there are too many or this set drains.
  void add(std::unique_ptr<io::stream> stream);

  // No new connections and no new requests; answers under way leave; what is left after `deadline` is closed. `done`
  // runs when none is left, maybe inside this call.
  void drain(io::duration deadline, unique_function<void()> done);

  std::size_t size() const { return connections_.size(); }
  std::size_t inflight_bytes() const;
  const close_counters& ended() const { return ended_; }

 private:
  void refuse(io::stream& stream, const connection_info& info, close_cause cause);
  void on_closed(const connection_info& info, close_cause cause, const std::string& reason);
  void close_all(const std::string& reason);
  void finish_drain();

  connection_context context_;
  const std::string listener_;
  const connection_limits limits_;
  frame_handler& handler_;
  std::shared_ptr<connection_limiter> limiter_;
  ended_callback on_ended_;
  std::unordered_map<std::uint64_t, std::shared_ptr<connection>> connections_;
  close_counters ended_;
  bool draining_ = false;
  io::timer_id drain_timer_{0};
  unique_function<void()> on_drained_;
};

}  // namespace braidmq::net

// The network between clients and the broker: byte streams that are delivered in pieces of any size, late, and that can
// be cut at any byte. What was written before the end may or may not arrive.
//
// The broker's end is an io::stream of one life of the broker; the client's end calls back on the client's executor.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "io/stream.hpp"
#include "world/scheduler.hpp"

namespace braidmq::sim {

struct network_options {
  std::size_t largest_piece_bytes = 64U << 10U;
  std::size_t buffer_bytes = 256U << 10U;  // in flight per direction before the broker's writes wait
  double delay_chance = 0.1;               // of a piece
  io::duration longest_delay = std::chrono::milliseconds(5);
};

// One connection. Owned by both ends together.
class link : public std::enable_shared_from_this<link> {
 public:
  // `options` may change while the link lives, and outlives it.
  link(std::uint64_t id, sim_executor& network, sim_executor& client, sim_executor& server, trace& events, rng chance,
       const network_options& options);

  std::uint64_t id() const { return id_; }

  // The client's end. Callbacks run on the client's executor; on_end once, after the last data.
  std::function<void(byte_view)> on_data;
  std::function<void()> on_end;
  void client_write(byte_view data);
  void client_close();

  // The broker's end, to be asked for once.
  std::unique_ptr<io::stream> server_end();

  // Both directions at once: bytes under way are lost from a random one on.
  void cut();

 private:
  friend class server_stream;

  struct direction {
    std::deque<std::byte> flying;
    bool writer_closed = false;
    bool ended = false;  // nothing more will arrive
    bool moving = false;
  };

  void move(bool to_server);     // gets the next piece on its way
  void deliver(bool to_server);  // a piece arrives
  void arrive_at_client(byte_view piece, bool last);
  void serve_reader();
  void serve_writer();
  void lose_tail(direction& way);

  std::uint64_t id_;
  sim_executor& network_;
  sim_executor& client_;
  sim_executor* server_;  // of the life that the connection belongs to; null when that is over
  trace& events_;
  rng chance_;
  const network_options& options_;

  direction to_server_;
  direction to_client_;
  bool client_gone_ = false;

  std::deque<std::byte> arrived_;  // at the server, not yet read
  mutable_byte_view read_target_;
  unique_function<void(result<std::size_t>)> on_read_;
  unique_function<void(status)> on_written_;
};

}  // namespace braidmq::sim

// One connection between two brokers: the handshake, then frames in both directions, each whole and in order or not at
// all. It ends by itself when the other end is gone, silent in the handshake, does not read, or says what cannot be;
// who wants another connection opens another channel.
//
// Memory: what waits to be sent is bounded by max_unsent_bytes (send() refuses beyond it: what is sent here is sent
// again by those who need it); what comes is held one frame at a time, by the bytes that have come.
//
// Owner: held by shared_ptr; one executor: all calls and callbacks on it. Callbacks may close or let go of the channel.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/stream.hpp"
#include "io/timers.hpp"
#include "net/receive_buffer.hpp"
#include "peer/handshake.hpp"

namespace braidmq::peer {

struct channel_limits {
  std::size_t max_frame_bytes = 128U << 20U;
  std::size_t max_unsent_bytes = 64U << 20U;
  std::chrono::milliseconds handshake_timeout{5'000};
  std::chrono::milliseconds write_timeout{10'000};  // in which the other end has to take something
};

struct channel_context {
  io::executor& executor;
  io::timer_service& timers;
  const io::clock& clock;
};

struct channel_callbacks {
  unique_function<void(const acquaintance&)> on_open;  // before the first frame
  unique_function<void(bytes)> on_frame;
  unique_function<void(const error&)> on_closed;  // once, unless close() was called; the last one
};

class channel final : public std::enable_shared_from_this<channel> {
 public:
  using handshake = std::variant<opening_handshake, taking_handshake>;

  channel(channel_context context, std::unique_ptr<io::stream> stream, handshake shake, const channel_limits& limits,
          channel_callbacks callbacks);
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  void start();
  // Ends it, without a callback.
  void close();

  bool is_open() const { return open_ && !closed_; }
  bool is_closed() const { return closed_; }
  const std::string& remote() const { return stream_->remote(); }

  // False when it is not open, the frame is empty or too large, or too much waits already: then nothing is sent.
  bool send(bytes frame);
  std::size_t unsent_bytes() const { return unsent_bytes_; }

 private:
  void read();
  void on_read(result<std::size_t> count);
  void take_frames();
  void take_handshake(const bytes& frame);
  void queue(bytes frame);
  void write();
  void on_written(std::size_t size, const status& written);
  void arm(io::duration delay);
  void on_timer();
  void end(error why);

  channel_context context_;
  const channel_limits limits_;
  channel_callbacks callbacks_;
  std::optional<handshake> shake_;  // until it is over
  std::optional<error> ends_with_;  // when what waits to be sent is sent: the other end is told why
  net::receive_buffer received_;
  std::deque<bytes> outgoing_;
  std::size_t unsent_bytes_ = 0;
  bool open_ = false;
  bool closed_ = false;
  bool writing_ = false;
  io::time_point begun_;
  io::time_point last_taken_;  // when the other end last took something, or had nothing to take
  io::timer_id timer_{0};
  std::unique_ptr<io::stream> stream_;  // last: goes first, and its callbacks with it, before the buffer they read into
};

}  // namespace braidmq::peer

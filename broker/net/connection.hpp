// One Kafka connection over any io::stream: reads frames under limits, hands them to a frame_handler, writes the
// answers in the order of the requests.
//
// Owner: a connection_set, which holds it until on_closed; one executor: all calls and callbacks on it.
// Bounds: a frame is taken up only while fewer than max_inflight_frames are under way and the bytes of requests and
// unsent answers are below max_inflight_bytes. Over it the connection stops reading, so the peer's TCP window closes.
// What is held is then at most max_inflight_bytes + one frame + the answers of the frames that were already under way.
// All connections together are held to the budgets of the context: a frame that finds no room waits for it unread.
// The end of the stream: whole frames that came before it are still handed over (a producer with acks=0 sends and
// goes).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_budget.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/stream.hpp"
#include "io/timers.hpp"
#include "net/close_cause.hpp"
#include "net/frame_handler.hpp"
#include "net/receive_buffer.hpp"

namespace braidmq::net {

struct connection_limits {
  std::size_t max_frame_bytes = 100 * 1024 * 1024;  // socket.request.max.bytes
  std::size_t max_inflight_bytes = 16 * 1024 * 1024;
  std::size_t max_inflight_frames = 128;
  std::chrono::milliseconds idle_timeout{600'000};  // connections.max.idle.ms
  // A started frame must be whole after frame_timeout plus the time that it takes at min_frame_bytes_per_s.
  std::chrono::milliseconds frame_timeout{10'000};
  std::size_t min_frame_bytes_per_s = 16 * 1024;
  std::chrono::milliseconds write_timeout{60'000};  // a peer that takes no byte of a waiting answer for so long is gone
};

// What a connection lives in.
struct connection_context {
  io::executor& executor;
  io::timer_service& timers;
  const io::clock& clock;
  // Shared with all connections; none: no bound. A frame has its memory from the first: a large one before it is read,
  // one of up to unreserved_frame_bytes when it is here. Answers that wait for the peer count in the second.
  std::shared_ptr<memory_budget> requests = nullptr;
  std::shared_ptr<memory_budget> answers = nullptr;
};

inline constexpr std::size_t unreserved_frame_bytes = large_frame_start_bytes;

class connection final : public std::enable_shared_from_this<connection> {
 public:
  // `on_closed` runs once, when the connection has ended, whoever ended it; the connection may be destroyed inside.
  using closed_callback = unique_function<void(const connection_info&, close_cause, const std::string& reason)>;

  connection(connection_context context, std::unique_ptr<io::stream> stream, std::shared_ptr<connection_info> info,
             const connection_limits& limits, frame_handler& handler, closed_callback on_closed);
  ~connection();

  void start();

  // Ends it now.
  void close(close_cause cause, const std::string& reason);

  // Graceful end: reads no more, forgets frames not yet handed over, lets the answers under way leave, then closes.
  // The owner sets the deadline: it calls close() when this takes too long.
  void drain();

  const connection_info& info() const { return *info_; }
  bool closed() const { return closed_; }
  // Memory accounted to this connection: frames under way or half read, and unsent answers.
  std::size_t inflight_bytes() const;

 private:
  template <auto Called, auto Missed>
  class request_token;  // what `accepted` and `respond` hold

  struct slot {                     // one request, from hand-over until its answer may leave
    std::size_t request_bytes = 0;  // given back when answered
    bool answered = false;
    std::size_t size_bytes = 0;  // of the answer with its length; 0: none
    std::vector<bytes> parts;
  };

  bool within_budget() const;
  bool may_take_frame() const;
  bool has_memory();
  void on_memory(memory_lease lease);
  void count_unsent();
  void pump();
  void look_at_large_frame();
  void hand_over(bytes frame);
  void read();
  void on_read(result<std::size_t> count);
  void on_accepted(std::uint64_t sequence);
  void on_answer(std::uint64_t sequence, result<answer> value);
  void on_dropped(std::uint64_t sequence);
  void collect_answers();
  void write_soon();
  void write();
  void on_written(std::size_t size, const status& written);
  void count_frames();
  void end_when_drained();
  void arm_idle(io::duration delay);
  void on_idle_timer();
  void time_frame();
  void arm_frame_timer(io::duration delay);
  void on_frame_timer();

  connection_context context_;
  std::shared_ptr<connection_info> info_;
  const connection_limits limits_;
  frame_handler& handler_;
  closed_callback on_closed_;

  receive_buffer received_;
  std::deque<slot> slots_;            // oldest first
  std::uint64_t first_sequence_ = 0;  // of slots_.front()
  std::uint64_t next_sequence_ = 0;
  bool accepting_ = false;         // the last frame handed over is not accepted yet
  std::size_t request_bytes_ = 0;  // of slots not answered
  memory_lease frame_memory_;      // of the frame that is being read
  memory_wait memory_wait_;
  bool awaits_memory_ = false;
  memory_lease unsent_memory_;
  std::deque<bytes> outgoing_;               // in order, ready to send
  std::deque<std::size_t> outgoing_frames_;  // bytes still unsent of each answer

  bool pumping_ = false;
  bool reading_ = false;
  bool read_ended_ = false;
  std::string read_end_reason_;
  bool writing_ = false;
  bool write_posted_ = false;
  bool draining_ = false;
  bool closed_ = false;

  io::time_point last_activity_;
  io::time_point last_taken_;  // when the peer last took something, or had nothing to take
  std::uint64_t frames_read_ = 0;
  std::uint64_t looked_frame_ = 0;  // number of the frame, from 1, at whose start the handler has looked
  std::uint64_t timed_frame_ = 0;   // and of that whose clock runs
  io::time_point frame_started_;
  io::time_point frame_timer_due_;
  io::timer_id idle_timer_{0};
  io::timer_id frame_timer_{0};

  std::unique_ptr<io::stream> stream_;  // last: goes first, and its callbacks with it, before the buffer they read into
};

}  // namespace braidmq::net

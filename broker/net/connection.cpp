#include "net/connection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "net/errc.hpp"
#include "net/write_step.hpp"

namespace braidmq::net {
namespace {

// A timer that fires later than this was held up by our own loop: the peer's bytes may wait in the kernel, unread.
constexpr io::duration late_timer = std::chrono::seconds(1);
// A frame that holds memory for which others wait has to come at this rate, after a moment to begin.
constexpr io::duration pressed_after = std::chrono::seconds(2);
constexpr io::duration pressure_probe = std::chrono::seconds(1);
constexpr std::size_t pressed_bytes_per_s = std::size_t{1} << 20U;

// Answers up to this size are copied behind their length: cheaper than a part of its own for four bytes.
constexpr std::size_t small_answer_bytes = 1024;

std::vector<bytes> with_length(std::vector<bytes> parts, std::size_t size) {
  std::array<std::byte, sizeof(std::int32_t)> length{};
  store_be(length.data(), static_cast<std::int32_t>(size));
  std::vector<bytes> framed;
  if (size <= small_answer_bytes) {
    std::vector<byte_view> views = {length};
    views.insert(views.end(), parts.begin(), parts.end());
    framed.push_back(bytes::joined(views));
    return framed;
  }
  framed.reserve(1 + parts.size());
  framed.push_back(bytes::copy_of(length));
  for (bytes& part : parts) {
    if (!part.empty()) framed.push_back(std::move(part));
  }
  return framed;
}

}  // namespace

// The connection's side of `accepted` and `respond`: at most one call; destroyed without one, `Missed` says what then.
// It may be destroyed on any thread (a handler that is torn down), hence the post.
template <auto Called, auto Missed>
class connection::request_token {
 public:
  request_token(std::weak_ptr<connection> of, std::uint64_t sequence) : of_(std::move(of)), sequence_(sequence) {}
  request_token(request_token&& other) noexcept
      : of_(std::move(other.of_)), sequence_(other.sequence_), open_(std::exchange(other.open_, false)) {}
  request_token& operator=(request_token&&) = delete;

  ~request_token() {
    if (!open_) return;
    auto self = of_.lock();
    if (self == nullptr) return;
    auto& executor = self->context_.executor;
    executor.post([self = std::move(self), sequence = sequence_] { (self.get()->*Missed)(sequence); });
  }

  template <class... Args>
  void operator()(Args... args) {
    BRAID_CHECK(open_, "request {} of a connection was accepted or answered twice", sequence_);
    open_ = false;
    if (const auto self = of_.lock()) (self.get()->*Called)(sequence_, std::move(args)...);
  }

 private:
  std::weak_ptr<connection> of_;
  std::uint64_t sequence_;
  bool open_ = true;
};

connection::connection(connection_context context, std::unique_ptr<io::stream> stream,
                       std::shared_ptr<connection_info> info, const connection_limits& limits, frame_handler& handler,
                       closed_callback on_closed)
    : context_(context),
      info_(std::move(info)),
      limits_(limits),
      handler_(handler),
      on_closed_(std::move(on_closed)),
      received_(limits.max_frame_bytes),
      last_activity_(context.clock.now()),
      last_taken_(last_activity_),
      stream_(std::move(stream)) {
  if (context_.answers != nullptr) unsent_memory_ = context_.answers->take(0);
}

connection::~connection() {
  if (closed_) return;
  context_.timers.cancel(idle_timer_);
  context_.timers.cancel(frame_timer_);
}

void connection::start() {
  arm_idle(std::min(limits_.idle_timeout, limits_.write_timeout));
  pump();
}

void connection::close(close_cause cause, const std::string& reason) {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  info_->ended = true;
  context_.timers.cancel(idle_timer_);
  context_.timers.cancel(frame_timer_);
  stream_->close();
  slots_.clear();
  outgoing_.clear();
  outgoing_frames_.clear();
  request_bytes_ = 0;
  info_->unsent_bytes = 0;
  count_unsent();
  frame_memory_ = {};
  memory_wait_ = {};
  info_->inflight_frames = 0;
  auto on_closed = std::exchange(on_closed_, nullptr);
  if (on_closed) on_closed(*info_, cause, reason);
}

void connection::drain() {
  if (closed_) return;
  draining_ = true;
  end_when_drained();
}

std::size_t connection::inflight_bytes() const {
  return request_bytes_ + info_->unsent_bytes + received_.frame_received_bytes();
}

bool connection::within_budget() const {
  return info_->inflight_frames < limits_.max_inflight_frames && inflight_bytes() < limits_.max_inflight_bytes;
}

// A frame that was begun is read to its end, also over budget: its bytes are held anyway, and only whole they can
// leave.
bool connection::may_take_frame() const {
  return !accepting_ && (within_budget() || received_.in_frame());
}

// Whether the frame that comes next has its memory. If not, it is asked for, and pump() runs again when it is there.
bool connection::has_memory() {
  if (context_.requests == nullptr || frame_memory_) return true;
  if (awaits_memory_) return false;
  const std::size_t size = received_.next_frame_bytes();
  if (size == 0 || (size <= unreserved_frame_bytes && !received_.frame_whole())) return true;
  frame_memory_ = context_.requests->try_take(size);
  if (frame_memory_) return true;
  awaits_memory_ = true;
  memory_wait_ = context_.requests->take_when_free(size, [weak = weak_from_this()](memory_lease lease) mutable {
    auto self = weak.lock();
    if (self == nullptr) return;
    auto& executor = self->context_.executor;
    executor.post([self = std::move(self), lease = std::move(lease)]() mutable { self->on_memory(std::move(lease)); });
  });
  return false;
}

void connection::on_memory(memory_lease lease) {
  awaits_memory_ = false;
  if (closed_) return;
  frame_memory_ = std::move(lease);
  timed_frame_ = 0;  // the peer is not to blame for the wait
  pump();
}

void connection::count_unsent() {
  unsent_memory_.resize(info_->unsent_bytes);
}

// Does all that can be done now: hands over what is whole, then reads on. Called after everything that changes what can
// be done; the handler may call back into it, hence the flag.
void connection::pump() {
  if (pumping_ || closed_ || draining_) return;
  const auto self = shared_from_this();
  pumping_ = true;
  while (!closed_ && !draining_ && may_take_frame() && has_memory()) {
    auto frame = received_.next_frame(frame_memory_);
    if (frame) {
      ++frames_read_;
      hand_over(std::move(*frame));
    } else if (received_.bad()) {
      close(*received_.bad(), fmt::format("{} (length {})", received_.bad_reason(), received_.bad_length()));
    } else if (read_ended_) {
      close(close_cause::peer_closed, read_end_reason_);
    } else {
      look_at_large_frame();
      if (!closed_ && received_.frame_started()) time_frame();
      break;
    }
  }
  pumping_ = false;
  read();
}

// Once for each frame, as soon as there is enough of it.
void connection::look_at_large_frame() {
  const byte_view start = received_.frame_start();
  if (start.size() < large_frame_start_bytes || looked_frame_ == frames_read_ + 1) return;
  looked_frame_ = frames_read_ + 1;
  const status readable = handler_.look(*info_, start, received_.next_frame_bytes());
  if (!readable) close(close_cause::handler_error, readable.error().to_string());
}

void connection::hand_over(bytes frame) {
  const auto sequence = next_sequence_++;
  slots_.push_back({.request_bytes = frame.size()});
  request_bytes_ += frame.size();
  count_frames();
  accepting_ = true;
  using accepted_token = request_token<&connection::on_accepted, &connection::on_accepted>;
  using answer_token = request_token<&connection::on_answer, &connection::on_dropped>;
  handler_.handle(info_, std::move(frame), accepted_token(weak_from_this(), sequence),
                  answer_token(weak_from_this(), sequence));
}

void connection::read() {
  if (reading_ || read_ended_ || closed_ || draining_ || awaits_memory_ || !may_take_frame()) return;
  reading_ = true;
  stream_->read_some(received_.space(), [weak = weak_from_this()](result<std::size_t> count) {
    if (const auto self = weak.lock()) self->on_read(std::move(count));
  });
}

void connection::on_read(result<std::size_t> count) {
  reading_ = false;
  if (closed_) return;
  if (count) {
    received_.received(*count);
    last_activity_ = context_.clock.now();
  } else {
    read_ended_ = true;
    read_end_reason_ = count.error().to_string();
  }
  pump();
}

void connection::on_accepted(std::uint64_t sequence) {
  if (closed_) return;
  BRAID_CHECK(accepting_ && sequence + 1 == next_sequence_);
  accepting_ = false;
  pump();
}

void connection::on_dropped(std::uint64_t sequence) {
  on_answer(sequence, fail(errc::dropped, "the request's handler went away"));
}

void connection::on_answer(std::uint64_t sequence, result<answer> value) {
  if (closed_) return;
  if (!value) return close(close_cause::handler_error, value.error().to_string());
  BRAID_CHECK(sequence >= first_sequence_ && sequence - first_sequence_ < slots_.size());
  auto& slot = slots_[sequence - first_sequence_];
  BRAID_CHECK(!slot.answered);
  slot.answered = true;
  request_bytes_ -= slot.request_bytes;
  if (*value) {
    std::size_t size = 0;
    for (const auto& part : **value) size += part.size();
    if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      return close(close_cause::handler_error, fmt::format("an answer of {} bytes does not fit into a frame", size));
    }
    slot.parts = with_length(std::move(**value), size);
    slot.size_bytes = sizeof(std::int32_t) + size;
    info_->unsent_bytes += slot.size_bytes;
    count_unsent();
  }
  last_activity_ = context_.clock.now();
  collect_answers();
  write_soon();
  end_when_drained();
  pump();
}

// Answers leave in the order of the requests: whatever is answered at the front of the line.
void connection::collect_answers() {
  while (!slots_.empty() && slots_.front().answered) {
    auto& slot = slots_.front();
    if (slot.size_bytes > 0) outgoing_frames_.push_back(slot.size_bytes);
    for (auto& part : slot.parts) outgoing_.push_back(std::move(part));
    slots_.pop_front();
    ++first_sequence_;
  }
  count_frames();
}

// Requests that went into one entry are answered one right after the other: their answers leave by one send.
void connection::write_soon() {
  if (write_posted_ || writing_ || closed_ || outgoing_.empty()) return;
  write_posted_ = true;
  context_.executor.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->write_posted_ = false;
    self->write();
  });
}

void connection::write() {
  if (writing_ || closed_ || outgoing_.empty()) return;
  write_step step = take_write_step(outgoing_);
  writing_ = true;
  last_taken_ = context_.clock.now();
  stream_->write(std::move(step.parts), [weak = weak_from_this(), size = step.size_bytes](status written) {
    if (const auto self = weak.lock()) self->on_written(size, written);
  });
}

void connection::on_written(std::size_t size, const status& written) {
  writing_ = false;
  if (closed_) return;
  if (!written) {
    const bool gone = written.error().code == io::errc::closed;
    return close(gone ? close_cause::peer_closed : close_cause::write_failed, written.error().to_string());
  }
  info_->unsent_bytes -= size;
  count_unsent();
  while (size > 0) {
    const auto of_frame = std::min(size, outgoing_frames_.front());
    size -= of_frame;
    outgoing_frames_.front() -= of_frame;
    if (outgoing_frames_.front() == 0) outgoing_frames_.pop_front();
  }
  count_frames();
  last_activity_ = context_.clock.now();
  write();
  end_when_drained();
  pump();
}

void connection::count_frames() {
  info_->inflight_frames = slots_.size() + outgoing_frames_.size();
}

void connection::end_when_drained() {
  if (!draining_ || !slots_.empty() || !outgoing_.empty() || writing_) return;
  close(close_cause::stopped, "this broker stops");
}

void connection::arm_idle(io::duration delay) {
  idle_timer_ = context_.timers.schedule(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_idle_timer();
  });
}

// One timer per connection, armed anew only when it fires: requests pay a clock reading, no timer.
void connection::on_idle_timer() {
  const io::time_point now = context_.clock.now();
  const io::duration silent = now - last_activity_;
  const io::duration step = std::min(limits_.idle_timeout, limits_.write_timeout);
  if (writing_ && now - last_taken_ >= limits_.write_timeout) {
    return close(close_cause::write_timeout, fmt::format("{} bytes of answers wait, and the peer took none for {} ms",
                                                         info_->unsent_bytes, limits_.write_timeout.count()));
  }
  const bool handler_works = std::ranges::any_of(slots_, [](const slot& one) { return !one.answered; });
  if (handler_works && !writing_) return arm_idle(step);
  if (silent < limits_.idle_timeout) {
    const io::duration to_idle = limits_.idle_timeout - silent;
    const io::duration to_write = writing_ ? io::duration(last_taken_ + limits_.write_timeout - now) : step;
    return arm_idle(std::min(to_idle, to_write));
  }
  close(close_cause::idle, fmt::format("no byte in either direction for {} ms", limits_.idle_timeout.count()));
}

// Starts the clock of the frame that is half here, once for each frame. The timer outlives the frame and is taken over
// by the next one, so that a busy connection does not arm one per frame.
void connection::time_frame() {
  if (timed_frame_ == frames_read_ + 1) return;
  timed_frame_ = frames_read_ + 1;
  frame_started_ = context_.clock.now();
  const io::duration first_look = frame_memory_ ? pressure_probe : io::duration(limits_.frame_timeout);
  if (frame_timer_ == io::timer_id{0}) arm_frame_timer(first_look);
}

void connection::arm_frame_timer(io::duration delay) {
  frame_timer_due_ = context_.clock.now() + delay;
  frame_timer_ = context_.timers.schedule(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_frame_timer();
  });
}

void connection::on_frame_timer() {
  frame_timer_ = io::timer_id{0};
  if (timed_frame_ != frames_read_ + 1 || read_ended_ || draining_) return;  // it came meanwhile
  if (awaits_memory_) return arm_frame_timer(limits_.frame_timeout);
  const auto now = context_.clock.now();
  if (now - frame_timer_due_ > late_timer) return arm_frame_timer(late_timer);
  const auto received = received_.frame_received_bytes();
  const auto earned =
      std::chrono::milliseconds(received * 1000 / std::max<std::size_t>(1, limits_.min_frame_bytes_per_s));
  const io::duration left = frame_started_ + limits_.frame_timeout + earned - now;
  const io::duration taken = now - frame_started_;
  if (frame_memory_ && taken >= pressed_after && context_.requests->has_waiters() &&
      received < pressed_bytes_per_s * std::chrono::duration_cast<std::chrono::milliseconds>(taken).count() / 1000) {
    return close(close_cause::frame_timeout,
                 fmt::format("others wait for the memory of a frame of which {} bytes came in {} ms", received,
                             std::chrono::duration_cast<std::chrono::milliseconds>(taken).count()));
  }
  if (left > io::duration::zero()) return arm_frame_timer(frame_memory_ ? std::min(left, pressure_probe) : left);
  close(close_cause::frame_timeout, fmt::format("a frame was started, and after {} ms only {} bytes of it are here",
                                                limits_.frame_timeout.count(), received));
}

}  // namespace braidmq::net

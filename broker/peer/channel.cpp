#include "peer/channel.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "net/write_step.hpp"

namespace braidmq::peer {
namespace {

constexpr std::size_t length_bytes = sizeof(std::int32_t);

bytes length_of(const bytes& frame) {
  std::array<std::byte, length_bytes> length{};
  store_be(length.data(), static_cast<std::int32_t>(frame.size()));
  return bytes::copy_of(length);
}

}  // namespace

channel::channel(channel_context context, std::unique_ptr<io::stream> stream, handshake shake,
                 const channel_limits& limits, channel_callbacks callbacks)
    : context_(context),
      limits_(limits),
      callbacks_(std::move(callbacks)),
      shake_(std::move(shake)),
      received_(limits.max_frame_bytes),
      begun_(context.clock.now()),
      last_taken_(begun_),
      stream_(std::move(stream)) {
  BRAID_CHECK(limits.max_frame_bytes >= max_handshake_frame_bytes);
}

channel::~channel() {
  if (!closed_) context_.timers.cancel(timer_);
}

void channel::start() {
  arm(limits_.handshake_timeout);
  if (const auto* opening = std::get_if<opening_handshake>(&*shake_)) queue(opening->hello());
  read();
}

void channel::close() {
  if (std::exchange(closed_, true)) return;
  context_.timers.cancel(timer_);
  stream_->close();
  outgoing_.clear();
  unsent_bytes_ = 0;
  callbacks_ = {};
}

void channel::end(error why) {
  if (closed_) return;
  auto told = std::move(callbacks_.on_closed);
  close();
  if (told) told(why);
}

bool channel::send(bytes frame) {
  if (!is_open() || ends_with_ || frame.empty() || frame.size() > limits_.max_frame_bytes) return false;
  // One frame is taken whatever its size when nothing else waits.
  if (unsent_bytes_ > 0 && unsent_bytes_ + frame.size() > limits_.max_unsent_bytes) return false;
  queue(std::move(frame));
  return true;
}

void channel::queue(bytes frame) {
  unsent_bytes_ += length_bytes + frame.size();
  outgoing_.push_back(length_of(frame));
  outgoing_.push_back(std::move(frame));
  write();
}

void channel::write() {
  if (writing_ || closed_ || outgoing_.empty()) return;
  net::write_step step = net::take_write_step(outgoing_);
  writing_ = true;
  last_taken_ = context_.clock.now();
  stream_->write(std::move(step.parts), [weak = weak_from_this(), size = step.size_bytes](status written) {
    if (const auto self = weak.lock()) self->on_written(size, written);
  });
}

void channel::on_written(std::size_t size, const status& written) {
  writing_ = false;
  if (closed_) return;
  if (!written) return end(ends_with_ ? std::move(*ends_with_) : written.error());
  unsent_bytes_ -= size;
  write();
  if (ends_with_ && outgoing_.empty() && !writing_) end(std::move(*ends_with_));
}

void channel::read() {
  if (closed_ || ends_with_) return;
  stream_->read_some(received_.space(), [weak = weak_from_this()](result<std::size_t> count) {
    if (const auto self = weak.lock()) self->on_read(std::move(count));
  });
}

void channel::on_read(result<std::size_t> count) {
  if (closed_ || ends_with_) return;
  if (!count) return end(std::move(count).error());
  received_.received(*count);
  take_frames();
  read();
}

void channel::take_frames() {
  while (!closed_ && !ends_with_) {
    const std::size_t size = received_.next_frame_bytes();
    if (received_.bad()) {
      return end({make_error_code(errc::bad_frame),
                  fmt::format("{} (length {})", received_.bad_reason(), received_.bad_length())});
    }
    if (shake_ && size > max_handshake_frame_bytes) {
      return end({make_error_code(errc::bad_frame), fmt::format("a frame of {} bytes in the handshake", size)});
    }
    const auto frame = received_.next_frame();
    if (!frame) return;
    if (shake_) {
      take_handshake(*frame);
    } else if (callbacks_.on_frame) {
      callbacks_.on_frame(*frame);
    }
  }
}

void channel::take_handshake(const bytes& frame) {
  handshake_step step = std::visit([&](auto& shake) { return shake.take(frame); }, *shake_);
  if (step.ended) {
    if (!step.send) return end(std::move(*step.ended));
    ends_with_ = std::move(step.ended);
  }
  if (step.done) {
    shake_.reset();
    open_ = true;
    context_.timers.cancel(timer_);
    arm(limits_.write_timeout);
  }
  if (step.send) queue(std::move(*step.send));
  if (step.done && callbacks_.on_open) callbacks_.on_open(*step.done);
}

void channel::arm(io::duration delay) {
  timer_ = context_.timers.schedule(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_timer();
  });
}

// The handshake has one deadline; after it the timer comes up now and then to see whether a write stands still.
void channel::on_timer() {
  if (closed_) return;
  if (ends_with_) return end(std::move(*ends_with_));
  if (!open_) {
    return end({make_error_code(errc::timed_out),
                fmt::format("no handshake within {} ms", limits_.handshake_timeout.count())});
  }
  const io::duration stands = context_.clock.now() - last_taken_;
  if (writing_ && stands >= limits_.write_timeout) {
    return end({make_error_code(errc::timed_out), fmt::format("{} bytes wait, and the other end took none for {} ms",
                                                              unsent_bytes_, limits_.write_timeout.count())});
  }
  arm(writing_ ? io::duration(limits_.write_timeout - stands) : io::duration(limits_.write_timeout));
}

}  // namespace braidmq::peer

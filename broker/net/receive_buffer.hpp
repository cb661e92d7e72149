// Cuts a byte stream into length-prefixed frames. Memory follows the bytes that came, never the length that was
// announced: whoever announces 100 MiB and sends a little costs a little. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "net/close_cause.hpp"

namespace braidmq::net {

class receive_buffer {
 public:
  explicit receive_buffer(std::size_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  // Where the next read goes; never empty. Valid until the next call of a non-const function.
  mutable_byte_view space();
  // `count` bytes were read into space().
  void received(std::size_t count);

  // Begins the next frame, if its length is here, and says how long it is; 0: not known yet, or bad().
  std::size_t next_frame_bytes();
  // All of the frame that has begun is here.
  bool frame_whole() const;
  // The next whole frame, if it is there. After bad() there is none any more. It holds `memory` as long as it lives;
  // untouched when there is no frame.
  std::optional<bytes> next_frame(memory_lease& memory);
  std::optional<bytes> next_frame() {
    memory_lease none;
    return next_frame(none);
  }

  // Set by next_frame() when the stream cannot be understood.
  std::optional<close_cause> bad() const { return bad_; }
  const char* bad_reason() const { return bad_reason_; }
  std::int64_t bad_length() const { return bad_length_; }

  // After next_frame() returned nothing: some bytes of a frame are here, and it is not whole.
  bool frame_started() const { return in_frame_ || filled_ - parsed_ > 0; }
  // Its length is known, and its bytes go to memory of their own.
  bool in_frame() const { return in_frame_; }
  // What came of the unfinished frame; valid until the next call of a non-const function.
  byte_view frame_start() const { return byte_view(frame_).first(frame_received_bytes()); }
  // Bytes of the unfinished frame that came so far.
  std::size_t frame_received_bytes() const { return in_frame_ ? frame_filled_ : 0; }
  // Memory held.
  std::size_t held_bytes() const { return block_.capacity() + frame_.capacity(); }

 private:
  bool start_frame();
  void fill_frame();
  void refuse(close_cause cause, std::int64_t length, const char* reason);

  std::size_t max_frame_bytes_;
  std::vector<std::byte> block_;  // small frames and the starts of large ones
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;

  bool in_frame_ = false;
  std::size_t frame_size_ = 0;  // as announced
  std::size_t frame_filled_ = 0;
  std::vector<std::byte> frame_;  // size: at least frame_filled_; grows with it

  std::optional<close_cause> bad_;
  const char* bad_reason_ = "";
  std::int64_t bad_length_ = 0;
};

}  // namespace braidmq::net

#include "net/receive_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/endian.hpp"

namespace braidmq::net {
namespace {

constexpr std::size_t length_bytes = 4;
// An idle connection costs this much; a larger frame is read into its own memory after its first bytes.
constexpr std::size_t block_bytes = std::size_t{8} * 1024;
constexpr std::size_t first_step_bytes = std::size_t{64} * 1024;

// Words for the two strangers that come by most often. Both read as lengths far above any limit.
const char* foreign_protocol(byte_view start) {
  if (start[0] == std::byte{0x16} && start[1] == std::byte{0x03}) {
    return "a TLS hello on a plaintext listener: the client's security.protocol does not fit this port";
  }
  constexpr std::array<std::string_view, 9> methods = {"GET ", "POST", "PUT ", "HEAD", "DELE",
                                                       "OPTI", "PATC", "CONN", "PRI "};
  if (std::ranges::find(methods, as_string_view(start.first(length_bytes))) != methods.end()) {
    return "an HTTP request on a Kafka listener: HTTP is served by admin.listener";
  }
  return nullptr;
}

}  // namespace

mutable_byte_view receive_buffer::space() {
  if (in_frame_ && frame_filled_ < frame_size_) {
    if (frame_.size() == frame_filled_) {
      const auto step = std::max(first_step_bytes, frame_filled_);  // doubles: each byte is copied once on average
      const auto size = std::min(frame_size_, frame_filled_ + step);
      frame_.reserve(size);
      frame_.resize(size);
    }
    return mutable_byte_view(frame_).subspan(frame_filled_);
  }
  if (block_.empty()) block_.resize(block_bytes);
  if (parsed_ > 0) {
    std::memmove(block_.data(), block_.data() + parsed_, filled_ - parsed_);
    filled_ -= std::exchange(parsed_, 0);
  }
  BRAID_CHECK(filled_ < block_.size(), "asked to read while whole frames wait");
  return mutable_byte_view(block_).subspan(filled_);
}

void receive_buffer::received(std::size_t count) {
  if (in_frame_ && frame_filled_ < frame_size_) {
    BRAID_CHECK(count <= frame_.size() - frame_filled_);
    frame_filled_ += count;
    return;
  }
  BRAID_CHECK(count <= block_.size() - filled_);
  filled_ += count;
}

std::size_t receive_buffer::next_frame_bytes() {
  if (bad_ || (!in_frame_ && !start_frame())) return 0;
  fill_frame();
  return frame_size_;
}

bool receive_buffer::frame_whole() const {
  return in_frame_ && frame_filled_ == frame_size_;
}

std::optional<bytes> receive_buffer::next_frame(memory_lease& memory) {
  if (next_frame_bytes() == 0 || !frame_whole()) return std::nullopt;
  in_frame_ = false;
  frame_.resize(frame_size_);
  return bytes::take(std::exchange(frame_, {}), std::exchange(memory, {}));
}

bool receive_buffer::start_frame() {
  const auto waiting = byte_view(block_).subspan(parsed_, filled_ - parsed_);
  if (waiting.size() < length_bytes) return false;
  const auto length = load_be<std::int32_t>(waiting.data());
  if (length <= 0) {
    refuse(close_cause::bad_frame_length, length, "a frame must have a positive length");
    return false;
  }
  if (static_cast<std::size_t>(length) > max_frame_bytes_) {
    if (const auto* words = foreign_protocol(waiting)) {
      refuse(close_cause::foreign_protocol, length, words);
    } else {
      refuse(close_cause::frame_too_large, length, "the frame is larger than socket.request.max.bytes");
    }
    return false;
  }
  parsed_ += length_bytes;
  in_frame_ = true;
  frame_size_ = static_cast<std::size_t>(length);
  frame_filled_ = 0;
  return true;
}

// Moves what the block holds of the current frame; the rest of a large one is read straight into it.
void receive_buffer::fill_frame() {
  const auto count = std::min(filled_ - parsed_, frame_size_ - frame_filled_);
  if (count == 0) return;
  if (frame_.size() < frame_filled_ + count) frame_.resize(frame_filled_ + count);
  std::memcpy(frame_.data() + frame_filled_, block_.data() + parsed_, count);
  frame_filled_ += count;
  parsed_ += count;
}

void receive_buffer::refuse(close_cause cause, std::int64_t length, const char* reason) {
  bad_ = cause;
  bad_length_ = length;
  bad_reason_ = reason;
}

}  // namespace braidmq::net

// Inside of load: one TCP connection that never blocks, with the frames that wait to be sent and the parts of those
// that come.
//
// Owner: one thread. Errors: std::errc.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::bench {

class frame_stream {
 public:
  // To a numeric address. Blocking.
  static result<frame_stream> connect(const io::endpoint& to);

  frame_stream(frame_stream&& other) noexcept;
  frame_stream& operator=(frame_stream&&) = delete;
  frame_stream(const frame_stream&) = delete;
  frame_stream& operator=(const frame_stream&) = delete;
  ~frame_stream();

  int descriptor() const { return descriptor_; }
  bool has_unsent() const { return sent_ < out_.size(); }

  // Queues a copy of the frame with this correlation id, and sends what can be sent now.
  status send(byte_view frame, std::int32_t correlation_id);
  status flush();
  // Reads once, if there is something; `take` gets each whole frame, without its length.
  status receive(const std::function<status(byte_view frame)>& take);

 private:
  explicit frame_stream(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;
  std::vector<std::byte> in_ = std::vector<std::byte>(std::size_t{64} << 10U);
  std::size_t received_ = 0;
};

}  // namespace braidmq::bench

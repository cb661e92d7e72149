// Inside of kafka_client: a TCP connection that blocks, and never beyond a deadline.
//
// Owner: one thread. Errors: unreachable, timed_out, bad_answer.
#pragma once

#include <cstddef>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/endpoint.hpp"

namespace braidmq::kafka_client {

class socket {
 public:
  // Tries the addresses of the name one after another. Looking the name up takes what the system's resolver takes.
  static result<socket> connect(const io::endpoint& to, io::time_point deadline);

  socket(socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  socket& operator=(socket&& other) noexcept;
  socket(const socket&) = delete;
  socket& operator=(const socket&) = delete;
  ~socket();

  status send(byte_view all, io::time_point deadline);
  // Exactly `size` bytes; memory is taken as they come.
  result<bytes> receive(std::size_t size, io::time_point deadline);

 private:
  explicit socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace braidmq::kafka_client

// Inside of admin: a socket as the HTTP library reads it, with what the library lacks: a bound for the bytes of a
// request and a deadline for all of it, so that a client that sends a byte now and then does not keep a thread. One
// thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include <httplib.h>

#include "io/clock.hpp"

namespace braidmq::admin {

class guarded_stream final : public httplib::Stream {
 public:
  explicit guarded_stream(socket_t socket) : socket_(socket) {}

  // Waits for the first byte of a request; false when none came in time or the client is gone.
  bool wait_for_request(std::chrono::milliseconds timeout);
  // From here on so many bytes may be read and written until the next call, and until then.
  void begin_request(std::size_t max_bytes, std::chrono::milliseconds read_time);
  void allow_more(std::size_t bytes) { bytes_left_ += bytes; }
  // The request has been read: so long may its answer take to leave.
  void begin_answer(std::chrono::milliseconds write_time) { write_deadline_ = io::system_clock().now() + write_time; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* target, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool wait(short events, io::time_point until) const;

  socket_t socket_;
  std::array<char, 4096> buffer_{};
  std::size_t buffer_at_ = 0;
  std::size_t buffer_end_ = 0;
  std::size_t bytes_left_ = 0;
  io::time_point read_deadline_;
  io::time_point write_deadline_;
};

}  // namespace braidmq::admin

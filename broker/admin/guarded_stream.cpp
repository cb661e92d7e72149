#include "admin/guarded_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace braidmq::admin {
namespace {

void describe(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

}  // namespace

bool guarded_stream::wait(short events, io::time_point until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - io::system_clock().now());
    if (left.count() <= 0) return false;
    pollfd one{socket_, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool guarded_stream::wait_for_request(std::chrono::milliseconds timeout) {
  if (buffer_at_ < buffer_end_) return true;
  if (!wait(POLLIN, io::system_clock().now() + timeout)) return false;
  char first = 0;
  return recv(socket_, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

void guarded_stream::begin_request(std::size_t max_bytes, std::chrono::milliseconds read_time) {
  bytes_left_ = max_bytes;
  read_deadline_ = io::system_clock().now() + read_time;
  write_deadline_ = read_deadline_;
}

bool guarded_stream::is_readable() const {
  return buffer_at_ < buffer_end_ || wait(POLLIN, read_deadline_);
}

bool guarded_stream::is_writable() const {
  return wait(POLLOUT, write_deadline_);
}

ssize_t guarded_stream::read(char* target, std::size_t size) {
  if (bytes_left_ == 0) return -1;
  if (buffer_at_ == buffer_end_) {
    if (!wait(POLLIN, read_deadline_)) return -1;
    ssize_t got = 0;
    do got = recv(socket_, buffer_.data(), buffer_.size(), 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return got;
    buffer_at_ = 0;
    buffer_end_ = static_cast<std::size_t>(got);
  }
  const std::size_t count = std::min({size, buffer_end_ - buffer_at_, bytes_left_});
  std::memcpy(target, buffer_.data() + buffer_at_, count);
  buffer_at_ += count;
  bytes_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t guarded_stream::write(const char* data, std::size_t size) {
  if (!wait(POLLOUT, write_deadline_)) return -1;
  ssize_t sent = 0;
  do sent = send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
  return sent;
}

void guarded_stream::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0) describe(address, ip, port);
}

void guarded_stream::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0) describe(address, ip, port);
}

}  // namespace braidmq::admin

#include "kafka_client/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kafka_client/errc.hpp"

namespace braidmq::kafka_client {
namespace {

std::string words_of(int code) {
  return std::generic_category().message(code);
}

// Whether the descriptor became ready for `events` before the deadline.
result<bool> wait_for(int descriptor, short events, io::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - io::system_clock().now()).count();
    if (left <= 0) return false;
    pollfd watched{.fd = descriptor, .events = events, .revents = 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left, INT_MAX)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail(errc::timed_out, words_of(errno));
  }
}

status connect_one(int descriptor, const addrinfo& address, io::time_point deadline) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return {};
  if (errno != EINPROGRESS) return fail(errc::unreachable, words_of(errno));
  BRAID_TRY(ready, wait_for(descriptor, POLLOUT, deadline));
  if (!ready) return fail(errc::unreachable, "no connection in time");
  int failure = 0;
  socklen_t size = sizeof(failure);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = errno;
  if (failure != 0) return fail(errc::unreachable, words_of(failure));
  return {};
}

}  // namespace

result<socket> socket::connect(const io::endpoint& to, io::time_point deadline) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failure = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &list);
  if (failure != 0) return fail(errc::unreachable, fmt::format("{}: {}", to.to_string(), ::gai_strerror(failure)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  error last{make_error_code(errc::unreachable), "the name has no address"};
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    socket made(::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol));
    if (made.descriptor_ < 0) {
      last.message = words_of(errno);
      continue;
    }
    const status connected = connect_one(made.descriptor_, *one, deadline);
    if (connected) {
      const int on = 1;
      ::setsockopt(made.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return made;
    }
    last = connected.error();
  }
  return tl::unexpected(with_context(std::move(last), to.to_string()));
}

socket& socket::operator=(socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

socket::~socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

status socket::send(byte_view all, io::time_point deadline) {
  while (!all.empty()) {
    const ssize_t sent = ::send(descriptor_, all.data(), all.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      all = all.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      BRAID_TRY(ready, wait_for(descriptor_, POLLOUT, deadline));
      if (!ready) return fail(errc::timed_out, "the request could not be sent in time");
    } else if (errno != EINTR) {
      return fail(errc::timed_out, "the connection ended: " + words_of(errno));
    }
  }
  return {};
}

result<bytes> socket::receive(std::size_t size, io::time_point deadline) {
  constexpr std::size_t step_bytes = std::size_t{1} << 20U;
  std::vector<std::byte> block;
  std::size_t got = 0;
  while (got < size) {
    if (got == block.size()) block.resize(std::min(size, got + std::max(step_bytes, got)));
    const ssize_t received = ::recv(descriptor_, block.data() + got, block.size() - got, 0);
    if (received > 0) {
      got += static_cast<std::size_t>(received);
    } else if (received == 0) {
      return fail(errc::timed_out, "the broker ended the connection");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      BRAID_TRY(ready, wait_for(descriptor_, POLLIN, deadline));
      if (!ready) return fail(errc::timed_out, "the answer did not come in time");
    } else if (errno != EINTR) {
      return fail(errc::timed_out, "the connection ended: " + words_of(errno));
    }
  }
  return bytes::take(std::move(block));
}

}  // namespace braidmq::kafka_client

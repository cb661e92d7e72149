#include "bench/broker/frame_stream.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/endian.hpp"
#include "bench/broker/produce_frame.hpp"

namespace braidmq::bench {
namespace {

constexpr std::size_t length_bytes = 4;

tl::unexpected<error> failed(const std::string& what) {
  return fail(std::error_code(errno, std::generic_category()), what);
}

}  // namespace

result<frame_stream> frame_stream::connect(const io::endpoint& to) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(to.port);
  if (::inet_pton(AF_INET, to.host.c_str(), &address.sin_addr) != 1) {
    return fail(std::make_error_code(std::errc::invalid_argument), to.to_string());
  }
  frame_stream made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.descriptor_ < 0 ||
      ::connect(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return failed(to.to_string());
  }
  const int on = 1;
  ::setsockopt(made.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::fcntl(made.descriptor_, F_SETFL, O_NONBLOCK) != 0) return failed(to.to_string());
  return made;
}

frame_stream::frame_stream(frame_stream&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      out_(std::move(other.out_)),
      sent_(other.sent_),
      in_(std::move(other.in_)),
      received_(other.received_) {}

frame_stream::~frame_stream() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

status frame_stream::send(byte_view frame, std::int32_t correlation_id) {
  if (!has_unsent()) {
    out_.clear();
    sent_ = 0;
  }
  const std::size_t begin = out_.size();
  out_.insert(out_.end(), frame.begin(), frame.end());
  store_be(out_.data() + begin + correlation_id_position, correlation_id);
  return flush();
}

status frame_stream::flush() {
  while (has_unsent()) {
    const ssize_t put = ::send(descriptor_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (put > 0) {
      sent_ += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      return {};
    } else if (errno != EINTR) {
      return failed("send");
    }
  }
  return {};
}

status frame_stream::receive(const std::function<status(byte_view)>& take) {
  const ssize_t got = ::recv(descriptor_, in_.data() + received_, in_.size() - received_, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got < 0) return failed("recv");
  if (got == 0) return fail(std::make_error_code(std::errc::connection_reset), "the broker ended the connection");
  received_ += static_cast<std::size_t>(got);
  std::size_t at = 0;
  while (received_ - at >= length_bytes) {
    const auto size = static_cast<std::size_t>(load_be<std::uint32_t>(in_.data() + at));
    if (size > in_.size() - length_bytes) {
      return fail(std::make_error_code(std::errc::message_size), fmt::format("an answer of {} bytes", size));
    }
    if (received_ - at < length_bytes + size) break;
    BRAID_TRY_VOID(take(byte_view(in_).subspan(at + length_bytes, size)));
    at += length_bytes + size;
  }
  std::memmove(in_.data(), in_.data() + at, received_ - at);
  received_ -= at;
  return {};
}

}  // namespace braidmq::bench

#include "bench/broker/scrape.hpp"

#include <cerrno>
#include <charconv>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kafka_client/socket.hpp"

namespace braidmq::bench {
namespace {

constexpr int poll_interval_ms = 50;
constexpr auto patience = std::chrono::seconds(10);
constexpr std::size_t most_header_bytes = 4096;

result<std::size_t> content_length(std::string_view header) {
  constexpr std::string_view name = "\r\nContent-Length: ";
  const auto at = header.find(name);
  std::size_t length = 0;
  if (at == std::string_view::npos ||
      std::from_chars(header.data() + at + name.size(), header.data() + header.size(), length).ec != std::errc{}) {
    return fail(std::make_error_code(std::errc::bad_message), "an answer without a length");
  }
  return length;
}

}  // namespace

result<std::string> scrape(const io::endpoint& admin) {
  const io::time_point deadline = io::system_clock().now() + patience;
  BRAID_TRY(connection, kafka_client::socket::connect(admin, deadline));
  const std::string request =
      fmt::format("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", admin.to_string());
  BRAID_TRY_VOID(connection.send(as_byte_view(request), deadline));
  std::string header;
  while (!header.ends_with("\r\n\r\n") && header.size() < most_header_bytes) {
    BRAID_TRY(one, connection.receive(1, deadline));
    header += as_string_view(one);
  }
  if (!header.starts_with("HTTP/1.1 200")) return fail(std::make_error_code(std::errc::bad_message), header);
  BRAID_TRY(length, content_length(header));
  BRAID_TRY(body, connection.receive(length, deadline));
  return std::string(as_string_view(body));
}

result<double> value_of(const std::string& metrics, const std::string& name) {
  const auto at = metrics.find("\n" + name + " ");
  double value = 0;
  if (at == std::string::npos ||
      std::from_chars(metrics.data() + at + name.size() + 2, metrics.data() + metrics.size(), value).ec !=
          std::errc{}) {
    return fail(std::make_error_code(std::errc::bad_message), "no metric " + name);
  }
  return value;
}

checkpoint_watch::checkpoint_watch(io::endpoint admin)
    : admin_(std::move(admin)), wake_(::eventfd(0, EFD_CLOEXEC)), thread_([this] { run(); }) {}

checkpoint_watch::~checkpoint_watch() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_, &one, sizeof(one)));
  thread_.join();
  ::close(wake_);
}

status checkpoint_watch::state() const {
  const std::lock_guard guard(mutex_);
  return state_;
}

std::vector<checkpoint_span> checkpoint_watch::spans() const {
  const std::lock_guard guard(mutex_);
  return spans_;
}

void checkpoint_watch::run() {
  double taken = -1;
  io::time_point before;  // the poll at which this many were taken for sure
  const auto look = [&]() -> status {
    const io::time_point asked = io::system_clock().now();
    BRAID_TRY(metrics, scrape(admin_));
    BRAID_TRY(now_taken, value_of(metrics, R"(braidmq_checkpoints_total{log="braid"})"));
    BRAID_TRY(took_seconds, value_of(metrics, R"(braidmq_checkpoint_last_seconds{log="braid"})"));
    if (taken >= 0 && now_taken > taken) {
      const auto took = std::chrono::duration_cast<io::duration>(std::chrono::duration<double>(took_seconds));
      const std::lock_guard guard(mutex_);
      // Of several since the last poll the first ones are shorter than a poll apart: the span takes them in.
      spans_.push_back({before - took, io::system_clock().now(), took});
      ++seen_;
    }
    taken = now_taken;
    before = asked;
    return {};
  };
  pollfd end{.fd = wake_, .events = POLLIN, .revents = 0};
  while (::poll(&end, 1, poll_interval_ms) == 0 || (end.revents == 0 && errno == EINTR)) {
    if (auto looked = look(); !looked) {
      const std::lock_guard guard(mutex_);
      state_ = std::move(looked);
      return;
    }
  }
}

}  // namespace braidmq::bench

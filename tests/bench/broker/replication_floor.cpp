#include "bench/broker/replication_floor.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/broker/disk_floor.hpp"

namespace braidmq::bench {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr int longest_silence_ms = 10'000;

tl::unexpected<error> failed(const std::string& what) {
  return fail(std::error_code(errno, std::generic_category()), what);
}

struct listening {
  int socket = -1;
  sockaddr_in at{};
};

result<listening> listen_somewhere() {
  listening made;
  made.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  made.at.sin_family = AF_INET;
  made.at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(made.at);
  if (made.socket < 0 || ::bind(made.socket, reinterpret_cast<sockaddr*>(&made.at), size) != 0 ||
      ::listen(made.socket, 4) != 0 || ::getsockname(made.socket, reinterpret_cast<sockaddr*>(&made.at), &size) != 0) {
    return failed("a socket of the floor");
  }
  return made;
}

int without_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

int connect_to(const sockaddr_in& at) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) != 0) return -1;
  return without_delay(socket);
}

bool send_all(int socket, const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, from, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    from += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, to, size, 0);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// Takes blocks, writes each, answers with a byte.
void follow(int listener, disk_floor& disk) {
  const int leader = without_delay(::accept(listener, nullptr, nullptr));
  std::array<char, block_bytes> block{};
  const char done = 1;
  while (receive_all(leader, block.data(), block.size()) && disk.write() && send_all(leader, &done, 1)) {
  }
}

// The same for a client, at a majority. Its own disk has a thread of its own, as the broker's has.
void lead(int listener, const std::array<sockaddr_in, 2>& followers, disk_floor& disk) {
  int own[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, own) != 0) return;
  std::thread writer([&] {
    char byte = 0;
    while (receive_all(own[1], &byte, 1) && disk.write() && send_all(own[1], &byte, 1)) {
    }
  });
  std::array<pollfd, 3> watched{pollfd{own[0], POLLIN, 0}, pollfd{connect_to(followers[0]), POLLIN, 0},
                                pollfd{connect_to(followers[1]), POLLIN, 0}};
  const int client = without_delay(::accept(listener, nullptr, nullptr));
  std::array<char, block_bytes> block{};
  std::array<int, 3> behind{};  // acknowledgements that are still to come
  const char done = 1;
  while (receive_all(client, block.data(), block.size())) {
    for (std::size_t i = 1; i < watched.size(); ++i) send_all(watched[i].fd, block.data(), block.size());
    send_all(own[0], &done, 1);
    for (int& one : behind) ++one;
    const auto has_it = [&behind] { return std::count(behind.begin(), behind.end(), 0); };
    while (has_it() < 2) {
      if (::poll(watched.data(), watched.size(), longest_silence_ms) <= 0) return;
      for (std::size_t i = 0; i < watched.size(); ++i) {
        char byte = 0;
        if ((watched[i].revents & POLLIN) != 0 && receive_all(watched[i].fd, &byte, 1)) --behind[i];
      }
    }
    if (!send_all(client, &done, 1)) break;
  }
  ::shutdown(own[0], SHUT_RDWR);
  writer.join();
}

result<pid_t> run_beside(const std::function<void()>& work) {
  const pid_t pid = ::fork();
  if (pid < 0) return failed("fork");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  work();
  ::_exit(0);
}

}  // namespace

result<std::unique_ptr<replication_floor>> replication_floor::start(const std::string& folder) {
  std::unique_ptr<replication_floor> made(new replication_floor);
  std::array<listening, 3> ports;
  std::array<std::unique_ptr<disk_floor>, 3> disks;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    BRAID_TRY(port, listen_somewhere());
    ports[i] = port;
    BRAID_TRY(disk, disk_floor::make(fmt::format("{}/{}", folder, i)));
    disks[i] = std::move(disk);
  }
  for (std::size_t i = 1; i < ports.size(); ++i) {
    BRAID_TRY(pid, run_beside([&] { follow(ports[i].socket, *disks[i]); }));
    made->processes_.push_back(pid);
  }
  BRAID_TRY(pid, run_beside([&] { lead(ports[0].socket, {ports[1].at, ports[2].at}, *disks[0]); }));
  made->processes_.push_back(pid);
  made->leader_ = connect_to(ports[0].at);
  for (const listening& one : ports) ::close(one.socket);
  if (made->leader_ < 0) return failed("the leader of the floor");
  return made;
}

replication_floor::~replication_floor() {
  if (leader_ >= 0) ::close(leader_);
  for (const pid_t pid : processes_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

result<io::duration> replication_floor::write() {
  static constexpr std::array<char, block_bytes> block{7};
  char done = 0;
  const io::time_point before = io::system_clock().now();
  if (!send_all(leader_, block.data(), block.size()) || !receive_all(leader_, &done, 1)) {
    return fail(std::make_error_code(std::errc::broken_pipe), "the floor has ended");
  }
  return io::system_clock().now() - before;
}

}  // namespace braidmq::bench

// A library to be preloaded into a broker: it stands in for four functions of the C library, does what they do, and
// notes when each call began and ended. Two readings of the clock and one store: less than a tenth of a microsecond a
// call.
#include "bench/broker/syscall_log.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using braidmq::bench::syscall_event;
using braidmq::bench::syscall_kind;
using braidmq::bench::syscall_log_head;

syscall_log_head* open_log() {
  const char* path = std::getenv(braidmq::bench::syscall_log_variable);
  if (path == nullptr) return nullptr;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  struct stat known{};
  if (file < 0 || ::fstat(file, &known) != 0) return nullptr;
  void* mapped = ::mmap(nullptr, static_cast<std::size_t>(known.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<syscall_log_head*>(mapped);
}

syscall_log_head* const head = open_log();

std::int64_t now() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1'000'000'000 + at.tv_nsec;
}

template <class Call>
auto noted(syscall_kind kind, Call call) {
  if (head == nullptr) return call();
  thread_local const pid_t thread = ::gettid();
  const std::int64_t begin = now();
  const auto outcome = call();
  const int code = errno;
  const std::uint64_t at = head->count.fetch_add(1, std::memory_order_relaxed);
  if (at < head->capacity) reinterpret_cast<syscall_event*>(head + 1)[at] = {begin, now(), thread, kind, outcome};
  errno = code;
  return outcome;
}

// The next function of this name: the C library's.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t recvmsg(int socket, msghdr* message, int flags) {
  static auto* const call = real<decltype(::recvmsg)>("recvmsg");
  return noted(syscall_kind::receive, [&] { return call(socket, message, flags); });
}

ssize_t recv(int socket, void* to, size_t size, int flags) {
  static auto* const call = real<decltype(::recv)>("recv");
  return noted(syscall_kind::receive, [&] { return call(socket, to, size, flags); });
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  static auto* const call = real<decltype(::sendmsg)>("sendmsg");
  return noted(syscall_kind::send, [&] { return call(socket, message, flags); });
}

ssize_t send(int socket, const void* from, size_t size, int flags) {
  static auto* const call = real<decltype(::send)>("send");
  return noted(syscall_kind::send, [&] { return call(socket, from, size, flags); });
}

ssize_t pwrite(int file, const void* from, size_t size, off_t position) {
  static auto* const call = real<decltype(::pwrite)>("pwrite");
  return noted(syscall_kind::write, [&] { return call(file, from, size, position); });
}

ssize_t pwrite64(int file, const void* from, size_t size, off64_t position) {
  static auto* const call = real<decltype(::pwrite64)>("pwrite64");
  return noted(syscall_kind::write, [&] { return call(file, from, size, position); });
}

int fdatasync(int file) {
  static auto* const call = real<decltype(::fdatasync)>("fdatasync");
  return noted(syscall_kind::sync, [&] { return call(file); });
}

}  // extern "C"

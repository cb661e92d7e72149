#include "k8s/connection_guard.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace braidmq::k8s {
namespace {

constexpr auto period = std::chrono::milliseconds(200);

}  // namespace

void guarded_socket::reset(int descriptor) {
  std::lock_guard lock(mutex_);
  if (duplicate_ >= 0) ::close(duplicate_);
  duplicate_ = descriptor;
}

void guarded_socket::attach(int descriptor) {
  reset(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

void guarded_socket::shut_down() {
  std::lock_guard lock(mutex_);
  if (duplicate_ >= 0) ::shutdown(duplicate_, SHUT_RDWR);
}

connection_guard::connection_guard() : thread_([this] { run(); }) {}

connection_guard::~connection_guard() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_all();
  thread_.join();
}

void connection_guard::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (all_.empty()) {
      wakeup_.wait(lock);
      continue;
    }
    wakeup_.wait_for(lock, period);
    const auto now = io::system_clock().now();
    for (watched* one : all_) {
      if (one->cancel_ != nullptr && *one->cancel_) one->canceled_ = true;
      if (now >= one->deadline_) one->late_ = true;
      // Again in each round: the socket may have been made only now.
      if (one->canceled_ || one->late_) one->socket_.shut_down();
    }
  }
}

connection_guard::watched::watched(connection_guard& guard, guarded_socket& socket, io::time_point deadline,
                                   const std::atomic<bool>* cancel)
    : guard_(guard), socket_(socket), deadline_(deadline), cancel_(cancel) {
  std::lock_guard lock(guard_.mutex_);
  place_ = guard_.all_.insert(guard_.all_.end(), this);
  if (guard_.all_.size() == 1) guard_.wakeup_.notify_all();
}

connection_guard::watched::~watched() {
  std::lock_guard lock(guard_.mutex_);
  guard_.all_.erase(place_);
}

}  // namespace braidmq::k8s

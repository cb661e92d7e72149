// Ends exchanges whose time is over or whose owner has lost interest: one thread that looks at all of them five times a
// second and shuts their sockets down, which wakes up whatever waits on them: a connect, a handshake, a read.
//
// The guard has duplicates of the sockets' descriptors, so that it never touches a number that was given to another
// file meanwhile.
//
// Threads: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "io/clock.hpp"

namespace braidmq::k8s {

// The descriptor of a connection, for as long as the connection lives.
class guarded_socket {
 public:
  guarded_socket() = default;
  ~guarded_socket() { reset(-1); }
  guarded_socket(const guarded_socket&) = delete;
  guarded_socket& operator=(const guarded_socket&) = delete;

  void attach(int descriptor);  // duplicates it, lets go of the one before
  void shut_down();

 private:
  void reset(int descriptor);

  std::mutex mutex_;
  int duplicate_ = -1;
};

class connection_guard {
 public:
  connection_guard();
  ~connection_guard();

  class watched {
   public:
    watched(connection_guard& guard, guarded_socket& socket, io::time_point deadline, const std::atomic<bool>* cancel);
    ~watched();
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;

    bool was_late() const { return late_; }
    // Also before the guard's next round: the library's own timeout, in whole milliseconds, may end the call first.
    bool is_due() const { return io::system_clock().now() + std::chrono::milliseconds(2) >= deadline_; }
    bool was_canceled() const { return canceled_; }

   private:
    friend class connection_guard;
    connection_guard& guard_;
    guarded_socket& socket_;
    io::time_point deadline_;
    const std::atomic<bool>* cancel_;
    std::atomic<bool> late_{false};
    std::atomic<bool> canceled_{false};
    std::list<watched*>::iterator place_;
  };

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::list<watched*> all_;
  bool stopping_ = false;
  std::thread thread_;  // tidy: allow(thread): its whole purpose
};

}  // namespace braidmq::k8s

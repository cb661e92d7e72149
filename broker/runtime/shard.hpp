// A shard: one thread with one event loop. What is pinned to a shard is touched by its thread only and needs no lock;
// other threads hand it work by post(). Nothing that blocks runs here.
//
// Threads: post(), on_shard() and counters() from any thread; schedule() and cancel() on the shard (before start() also
// on the thread that will start it); start() and stop() on the owner's.
// After stop() queued work and timers are dropped without being run; they are destroyed with the shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "io/executor.hpp"
#include "io/timers.hpp"

namespace asio {
class io_context;
}

namespace braidmq::runtime {

struct shard_counters {
  std::uint64_t tasks = 0;        // posted work that ran
  std::uint64_t timers = 0;       // timer callbacks that ran
  std::uint64_t lag_last_us = 0;  // how late the loop came to its latest timer: the time somebody else held it
  std::uint64_t lag_max_us = 0;   // the worst since start
};

class shard final : public io::executor, public io::timer_service {
 public:
  explicit shard(unsigned index, const io::clock& clock = io::system_clock());
  ~shard() override;

  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  void start();
  void stop();

  void post(io::task work) override;
  io::timer_id schedule(io::duration delay, unique_function<void()> callback) override;
  bool cancel(io::timer_id id) override;

  bool on_shard() const { return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed); }
  unsigned index() const { return index_; }
  const io::clock& clock() const { return clock_; }
  shard_counters counters() const;
  // How long the loop has not come round: a fraction of a second unless a task holds it. Zero when it does not run. Any
  // thread.
  io::duration stuck() const;

  // For sockets and coroutines (runtime/task.hpp).
  asio::io_context& context();

 private:
  struct loop;

  void run();
  void arm();
  void on_timer();
  void probe_lag();
  void check_thread() const;

  const unsigned index_;
  const io::clock& clock_;
  std::unique_ptr<loop> loop_;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};
  std::atomic<std::uint64_t> tasks_{0};
  std::atomic<std::uint64_t> timers_{0};
  std::atomic<std::uint64_t> lag_last_us_{0};
  std::atomic<std::uint64_t> lag_max_us_{0};
  std::atomic<io::time_point::rep> probed_{0};  // when probe_lag last ran; 0: the loop does not run
};

}  // namespace braidmq::runtime

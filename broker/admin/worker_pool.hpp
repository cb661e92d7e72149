// Inside of admin: threads for connections. The library gives a connection a thread until it ends, so a fixed number of
// threads can be held by as many silent clients, and a probe would wait behind them. This pool makes a thread when all
// others are busy, up to a bound, and lets it go when it has been idle.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include <httplib.h>

namespace braidmq::admin {

class worker_pool final : public httplib::TaskQueue {
 public:
  explicit worker_pool(std::size_t max_threads) : max_threads_(max_threads) {}
  ~worker_pool() override { shutdown(); }

  void enqueue(std::function<void()> work) override;
  // Returns when everything that was queued has run and all threads have ended.
  void shutdown() override;

 private:
  void run();

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::deque<std::function<void()>> queue_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace braidmq::admin

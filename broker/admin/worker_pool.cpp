#include "admin/worker_pool.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

namespace braidmq::admin {
namespace {

constexpr auto max_idle = std::chrono::seconds(10);

}  // namespace

void worker_pool::enqueue(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back(std::move(work));
  if (queue_.size() > idle_ && threads_ < max_threads_) {
    try {
      // Detached: a thread counts itself out under the lock, as the last thing that it does here.
      std::thread([this] { run(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      if (threads_ == 0) throw;  // nobody would ever take the work
    }
  }
  wake_.notify_one();
}

void worker_pool::run() {
  pthread_setname_np(pthread_self(), "admin");
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    const bool woken = wake_.wait_for(lock, max_idle, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty() && (stopping_ || !woken)) break;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --threads_;
  ended_.notify_all();
}

void worker_pool::shutdown() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  ended_.wait(lock, [this] { return threads_ == 0; });
}

}  // namespace braidmq::admin

#include "io/thread_executor.hpp"

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace braidmq::io {

thread_executor::thread_executor(std::string name, unsigned threads) {
  name.resize(std::min<std::size_t>(name.size(), 15));
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

thread_executor::~thread_executor() {
  stop();
}

void thread_executor::post(task work) {
  {
    const std::lock_guard guard(mutex_);
    if (stopping_) return;
    queue_.push_back(std::move(work));
  }
  wakeup_.notify_one();
}

void thread_executor::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_all();
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
}

void thread_executor::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    wakeup_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    task work = std::move(queue_.front());
    queue_.pop_front();
    guard.unlock();
    work();
    work = nullptr;  // captures are destroyed outside the lock
    guard.lock();
  }
}

}  // namespace braidmq::io

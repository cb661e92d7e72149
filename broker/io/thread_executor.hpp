// An executor with threads of its own for blocking work: WAL writes, segment writes and reads, syncs. One thread runs
// tasks in the order in which they were posted; several begin them in that order.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "io/executor.hpp"

namespace braidmq::io {

class thread_executor final : public executor {
 public:
  explicit thread_executor(std::string name, unsigned threads = 1);  // at most 15 characters are shown by the system
  ~thread_executor() override;                                       // stop()

  void post(task work) override;

  // Runs what is queued, refuses more, joins the threads. Not to be called from one of them.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<task> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace braidmq::io

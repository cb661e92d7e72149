// An executor of one thread of its own for blocking work: WAL writes, segment writes and reads.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "io/executor.hpp"

namespace braidmq::io {

class thread_executor final : public executor {
 public:
  explicit thread_executor(std::string name);  // at most 15 characters are shown by the system
  ~thread_executor() override;                 // stop()

  void post(task work) override;

  // Runs what is queued, refuses more, joins the thread. Not to be called from the thread itself.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<task> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace braidmq::io

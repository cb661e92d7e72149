// Reads a broker's metrics, and watches the checkpoints of its braid by them.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/endpoint.hpp"

namespace braidmq::bench {

// The text of /metrics. Blocking. Errors: std::errc.
result<std::string> scrape(const io::endpoint& admin);
// Of a line as it stands there: `braidmq_checkpoints_total{log="braid"}`.
result<double> value_of(const std::string& metrics, const std::string& name);

// A checkpoint was under way for some of this time, and not outside of it: it is known by polls, so that its begin and
// end are known to within one poll, and the span takes in both.
struct checkpoint_span {
  io::time_point from;
  io::time_point to;
  io::duration took{};  // as the broker says
};

// Polls on a thread of its own, from its making to its end.
class checkpoint_watch {
 public:
  explicit checkpoint_watch(io::endpoint admin);
  ~checkpoint_watch();
  checkpoint_watch(const checkpoint_watch&) = delete;
  checkpoint_watch& operator=(const checkpoint_watch&) = delete;

  // Ended since the watch began; any thread.
  std::size_t seen() const { return seen_; }
  // An error when a poll failed; any thread.
  status state() const;
  std::vector<checkpoint_span> spans() const;

 private:
  void run();

  io::endpoint admin_;
  int wake_ = -1;  // an eventfd: the end
  std::atomic<std::size_t> seen_{0};
  mutable std::mutex mutex_;
  std::vector<checkpoint_span> spans_;  // under the mutex, as is the next
  status state_;
  std::thread thread_;
};

}  // namespace braidmq::bench

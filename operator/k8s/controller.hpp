// Workers that take keys from a queue and reconcile them. A function of the caller does the work and says what comes
// next; what it throws is a failure like any other, except for want of memory, which ends the process.
//
// Threads: start() and stop() by the owner; reconcile runs on the workers, never twice at once for a key.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/histogram.hpp"
#include "base/result.hpp"
#include "io/clock.hpp"
#include "k8s/work_queue.hpp"

namespace braidmq::k8s {

struct reconcile_result {
  enum class kind {
    done,      // until something changes
    requeue,   // again after a time, without a failure
    failed,    // again after a backoff
    terminal,  // not again until the object's generation is another: the same input fails in the same way
  };
  kind what = kind::done;
  io::duration after{};  // of requeue
  error why{};           // of failed and terminal

  static reconcile_result done() { return {}; }
  static reconcile_result requeue_after(io::duration after) { return {kind::requeue, after}; }
  static reconcile_result failed(error why) { return {kind::failed, {}, std::move(why)}; }
  static reconcile_result terminal(error why) { return {kind::terminal, {}, std::move(why)}; }
};

struct controller_options {
  std::string name;  // for words and figures
  int workers = 4;
  io::duration deadline = std::chrono::minutes(2);  // a reconcile that takes longer is reported as stuck
  // The object's generation by the cache; nothing when it is gone. Without this a terminal failure waits for any event.
  std::function<std::optional<std::int64_t>(const object_key&)> generation_of;
  // Says why and does not return. By default to stderr, then _Exit(70).
  std::function<void(const std::string& why)> on_fatal;
};

struct controller_figures {
  std::map<std::string, std::uint64_t> results;  // done, requeue, failed, terminal, exception; skipped: still terminal
  histogram duration_us;
  std::optional<io::duration> oldest_in_flight;  // for how long by now
  std::string oldest_key;
  std::size_t stuck = 0;  // in flight for longer than the deadline
  std::size_t parked = 0;
  std::int64_t last_success_unix_ms = 0;
  std::string last_error;
  work_queue::figures queue;
};

class controller {
 public:
  using reconcile = std::function<reconcile_result(const object_key& key)>;

  controller(controller_options options, reconcile work, const io::clock& clock = io::system_clock());
  ~controller();  // stop()

  work_queue& queue() { return queue_; }

  void start();
  void stop();  // takes no more keys, waits for those in hand

  // Works on what is due, on the calling thread; the count of keys. For tests on a virtual clock.
  std::size_t run_due();

  controller_figures read_figures() const;
  std::optional<std::string> stuck() const;  // in words

 private:
  void work_on(const object_key& key);
  reconcile_result call(const object_key& key, std::string& word);
  bool is_parked(const object_key& key);

  const controller_options options_;
  const reconcile work_;
  const io::clock& clock_;
  work_queue queue_;
  mutable std::mutex mutex_;
  controller_figures counts_;
  std::map<object_key, io::time_point> in_flight_;
  std::map<object_key, std::int64_t> parked_;  // terminal, with the generation that was
  std::vector<std::thread> threads_;           // tidy: allow(thread): the workers
};

}  // namespace braidmq::k8s

// Keys that want work, with the semantics of client-go's work queue: a key is never in the hands of two workers; a key
// that is added while it is being worked on is worked on once more afterwards; added twice, it waits once. Failures are
// retried with a backoff per key, 5 ms doubling to 60 s, and all retries together pass a bucket of 10/s with a burst
// of 100.
//
// Threads: any. Time comes in through io::clock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "io/clock.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s {

class work_queue {
 public:
  explicit work_queue(const io::clock& clock);
  ~work_queue();

  void add(const object_key& key);
  void add_after(const object_key& key, io::duration delay);  // of several, the earliest counts
  void add_rate_limited(const object_key& key);
  void forget(const object_key& key);  // ends the backoff of a key
  int failures(const object_key& key) const;

  // Blocks until a key is due or the queue is shut down (nothing). Each key that was taken must be given back by
  // done().
  std::optional<object_key> take();
  // The same without blocking, for tests on a virtual clock.
  std::optional<object_key> try_take();
  void done(const object_key& key);

  void shut_down();  // no key is given out any more; take() returns nothing

  struct figures {
    std::size_t depth = 0;       // due and waiting for a worker
    std::size_t delayed = 0;     // not due yet
    std::size_t processing = 0;  // with workers
    std::uint64_t adds = 0;
    std::uint64_t retries = 0;
    std::uint64_t taken = 0;
    io::duration waited{};           // of all that were taken, from due to taken
    io::duration longest_running{};  // of those with workers
  };
  figures read_figures() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::k8s

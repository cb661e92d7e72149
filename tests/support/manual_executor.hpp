// Executors that run only when a test says so, on the test's thread. Several executors share one `manual_loop`, which
// chooses whose task runs next: in the order of posting, or as a seed says. Tasks of one serial executor always run in
// order; a pool's tasks run in any order (but never overlap: there is one thread).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "io/executor.hpp"
#include "support/sim_random.hpp"

namespace braidmq::sim {

class manual_loop;

enum class order { serial, pool };

class manual_executor final : public io::executor {
 public:
  manual_executor(manual_loop& loop, order how = order::serial);
  ~manual_executor() override;
  manual_executor(const manual_executor&) = delete;
  manual_executor& operator=(const manual_executor&) = delete;

  void post(io::task work) override;

  std::size_t queued() const { return queue_.size(); }

  // Drops what is queued and all that will be posted, as the end of a process does.
  void stop() {
    stopped_ = true;
    // Destroying a task may post again (to be dropped), so the queue must be out of reach meanwhile.
    auto dropped = std::exchange(queue_, {});
  }

 private:
  friend class manual_loop;
  struct item {
    std::uint64_t number;  // order of posting over the whole loop
    io::task work;
  };

  manual_loop* loop_;
  order order_;
  std::deque<item> queue_;
  bool stopped_ = false;
};

class manual_loop {
 public:
  manual_loop() = default;  // the order of posting
  explicit manual_loop(std::uint64_t seed) : rng_(rng(seed)) {}

  // Runs one task; false when there is none.
  bool run_one() {
    std::vector<manual_executor*> ready;
    for (manual_executor* executor : executors_) {
      if (!executor->queue_.empty()) ready.push_back(executor);
    }
    if (ready.empty()) return false;
    run_one_of(*choose(ready));
    return true;
  }

  // Runs one task of `executor` whatever the others hold; false when it has none.
  bool run_one(manual_executor& executor) {
    if (executor.queue_.empty()) return false;
    run_one_of(executor);
    return true;
  }

  // Runs tasks, also those that tasks post, until none is left. More than `limit` tasks are a loop without end.
  std::size_t run_until_idle(std::size_t limit = 10'000'000) {
    std::size_t count = 0;
    while (run_one()) BRAID_CHECK(++count <= limit, "tasks without end");
    return count;
  }

 private:
  friend class manual_executor;

  manual_executor* choose(const std::vector<manual_executor*>& ready) {
    if (rng_) return ready[rng_->below(ready.size())];
    manual_executor* first = ready.front();
    for (manual_executor* executor : ready) {
      if (executor->queue_.front().number < first->queue_.front().number) first = executor;
    }
    return first;
  }

  void run_one_of(manual_executor& executor) {
    std::size_t at = 0;
    if (rng_ && executor.order_ == order::pool) at = rng_->below(executor.queue_.size());
    const auto chosen = executor.queue_.begin() + static_cast<std::ptrdiff_t>(at);
    io::task work = std::move(chosen->work);
    executor.queue_.erase(chosen);
    work();
  }

  std::vector<manual_executor*> executors_;
  std::optional<rng> rng_;
  std::uint64_t posted_ = 0;
};

inline manual_executor::manual_executor(manual_loop& loop, order how) : loop_(&loop), order_(how) {
  loop.executors_.push_back(this);
}

inline manual_executor::~manual_executor() {
  stop();
  std::erase(loop_->executors_, this);
}

inline void manual_executor::post(io::task work) {
  if (!stopped_) queue_.push_back({loop_->posted_++, std::move(work)});
}

}  // namespace braidmq::sim

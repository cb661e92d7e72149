#include "runtime/shard.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <pthread.h>

#include "base/check.hpp"
#include "runtime/timer_queue.hpp"

namespace braidmq::runtime {
namespace {

constexpr auto lag_probe_interval = std::chrono::milliseconds(100);

// Only the shard's thread writes these counters, so that no locked instruction is needed.
void add_one(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

struct shard::loop {
  // Before the context, so that work that is dropped with it may still cancel its timers.
  timer_queue timers;
  std::optional<io::time_point> armed_for;
  bool ending = false;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer timer{context};
};

shard::shard(unsigned index, const io::clock& clock) : index_(index), clock_(clock), loop_(std::make_unique<loop>()) {}

shard::~shard() {
  stop();
  loop_->ending = true;
  // Callbacks may hold whatever refers to this shard: they go while it is still whole.
  loop_->timers.clear();
}

void shard::start() {
  BRAID_CHECK(!thread_.joinable(), "shard {} was started twice", index_);
  thread_ = std::thread([this] { run(); });
}

void shard::stop() {
  BRAID_CHECK(!on_shard(), "shard {} cannot join itself", index_);
  loop_->context.stop();
  if (thread_.joinable()) thread_.join();
}

void shard::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  pthread_setname_np(pthread_self(), ("shard-" + std::to_string(index_)).c_str());
  probe_lag();
  arm();
  loop_->context.run();
  probed_ = 0;
  thread_id_.store({}, std::memory_order_relaxed);
}

void shard::post(io::task work) {
  asio::post(loop_->context, [this, work = std::move(work)]() mutable {
    add_one(tasks_);
    work();
  });
}

io::timer_id shard::schedule(io::duration delay, unique_function<void()> callback) {
  check_thread();
  const auto id = loop_->timers.add(clock_.now() + delay, std::move(callback));
  arm();
  return id;
}

bool shard::cancel(io::timer_id id) {
  check_thread();
  return loop_->timers.cancel(id);  // the armed timer may fire for nothing: cheaper than arming it anew
}

void shard::arm() {
  const auto due = loop_->timers.next_due();
  if (loop_->ending || !due || (loop_->armed_for && *loop_->armed_for <= *due)) return;
  loop_->armed_for = *due;
  loop_->timer.expires_at(*due);
  loop_->timer.async_wait([this](const std::error_code& code) {
    if (!code) on_timer();  // an error: armed for an earlier time meanwhile
  });
}

void shard::on_timer() {
  const auto now = clock_.now();
  const auto due = std::exchange(loop_->armed_for, std::nullopt);
  if (due && now > *due) {
    const auto lag = std::chrono::duration_cast<std::chrono::microseconds>(now - *due).count();
    const auto lag_us = static_cast<std::uint64_t>(lag);
    lag_last_us_.store(lag_us, std::memory_order_relaxed);
    if (lag_us > lag_max_us_.load(std::memory_order_relaxed)) lag_max_us_.store(lag_us, std::memory_order_relaxed);
  }
  const auto ran = loop_->timers.run_due(now);
  timers_.store(timers_.load(std::memory_order_relaxed) + ran, std::memory_order_relaxed);
  arm();
}

// An idle or stuck loop must show its lag too, so there is always a timer to be late for.
void shard::probe_lag() {
  probed_ = clock_.now().time_since_epoch().count();
  loop_->timers.add(clock_.now() + lag_probe_interval, [this] { probe_lag(); });
}

void shard::check_thread() const {
  // thread_ is start()'s alone: it may still be assigned when the new thread is here already.
  const bool runs = thread_id_.load(std::memory_order_relaxed) != std::thread::id();
  BRAID_CHECK(!runs || on_shard(), "timers of shard {} used on another thread", index_);
}

io::duration shard::stuck() const {
  const io::time_point::rep probed = probed_;
  if (probed == 0) return {};
  const io::time_point due = io::time_point(io::time_point::duration(probed)) + lag_probe_interval;
  return std::max(io::duration::zero(), io::duration(clock_.now() - due));
}

shard_counters shard::counters() const {
  return {.tasks = tasks_.load(std::memory_order_relaxed),
          .timers = timers_.load(std::memory_order_relaxed),
          .lag_last_us = lag_last_us_.load(std::memory_order_relaxed),
          .lag_max_us = lag_max_us_.load(std::memory_order_relaxed)};
}

asio::io_context& shard::context() {
  return loop_->context;
}

}  // namespace braidmq::runtime

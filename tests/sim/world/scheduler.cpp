#include "world/scheduler.hpp"

#include <cmath>
#include <utility>

namespace braidmq::sim {

task_source::task_source(scheduler& owner, std::string name) : owner_(&owner), name_(std::move(name)) {
  owner.sources_.push_back(this);
}

task_source::~task_source() {
  std::erase(owner_->sources_, this);
}

sim_executor::sim_executor(scheduler& owner, std::string name, task_order order)
    : task_source(owner, std::move(name)), order_(order) {}

sim_executor::~sim_executor() {
  stop();
}

void sim_executor::post(io::task work) {
  if (!stopped_) tasks_.push_back(std::move(work));
}

io::timer_id sim_executor::schedule(io::duration delay, unique_function<void()> callback) {
  const io::timer_id id(++owner().last_timer_);
  if (stopped_) return id;
  // One more, or a clock that goes slowly would stand right before what it was set to.
  if (rate_ != 1) delay = io::duration(std::llround(static_cast<double>(delay.count()) / rate_) + 1);
  const io::time_point due = owner().now() + std::max(delay, io::duration::zero());
  timers_.emplace(id, timer{due, std::move(callback)});
  owner().timers_.emplace(scheduler::timer_key(due, id), this);
  return id;
}

bool sim_executor::cancel(io::timer_id id) {
  const auto found = timers_.find(id);
  if (found == timers_.end()) return false;
  owner().timers_.erase({found->second.due, id});
  // What the callback holds may cancel other timers while it goes.
  const timer dropped = std::move(found->second);
  timers_.erase(found);
  return true;
}

void sim_executor::fire(io::timer_id id) {
  post([this, id] {
    const auto found = timers_.find(id);
    if (found == timers_.end()) return;
    timer due = std::move(found->second);
    timers_.erase(found);
    due.callback();
  });
}

void sim_executor::stop() {
  stopped_ = true;
  for (const auto& [id, one] : timers_) owner().timers_.erase({one.due, id});
  auto dropped_tasks = std::exchange(tasks_, {});
  auto dropped_timers = std::exchange(timers_, {});
}

bool sim_executor::run_one() {
  if (tasks_.empty()) return false;
  std::size_t at = 0;
  if (order_ == task_order::any) at = owner().chance_.below(tasks_.size());
  const auto chosen = tasks_.begin() + static_cast<std::ptrdiff_t>(at);
  io::task work = std::move(*chosen);
  tasks_.erase(chosen);
  work();
  return true;
}

bool scheduler::step() {
  for (;;) {
    fire_due();
    task_source* next = choose();
    if (next == nullptr) {
      if (timers_.empty()) return false;
      clock_.time = timers_.begin()->first.first;
      trace_.mix(event::time, static_cast<std::uint64_t>(clock_.time.time_since_epoch().count()));
      continue;
    }
    std::uint64_t place = 0;
    while (sources_[place] != next) ++place;
    if (!next->run_one()) continue;
    trace_.mix(event::task, place);
    ++tasks_run_;
    clock_.time += io::duration(chance_.below(static_cast<std::uint64_t>(task_time_.count()) + 1));
    for (task_source* source : sources_) source->note_activity();
    return true;
  }
}

task_source* scheduler::choose() {
  std::uint64_t total = 0;
  for (task_source* source : sources_) {
    if (!source->is_paused() && source->ready()) total += source->weight();
  }
  if (total == 0) return nullptr;
  std::uint64_t at = chance_.below(total);
  for (task_source* source : sources_) {
    if (source->is_paused() || !source->ready()) continue;
    if (at < source->weight()) return source;
    at -= source->weight();
  }
  return nullptr;
}

void scheduler::fire_due() {
  while (!timers_.empty() && timers_.begin()->first.first <= clock_.time) {
    const auto [key, executor] = *timers_.begin();
    timers_.erase(timers_.begin());
    executor->fire(key.second);
  }
}

}  // namespace braidmq::sim

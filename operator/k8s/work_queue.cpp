#include "k8s/work_queue.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/check.hpp"

namespace braidmq::k8s {
namespace {

constexpr io::duration backoff_base = std::chrono::milliseconds(5);
constexpr io::duration backoff_max = std::chrono::seconds(60);
constexpr io::duration bucket_interval = std::chrono::milliseconds(100);  // of one token: 10/s
constexpr int bucket_burst = 100;

io::duration backoff_of(int failures) {
  io::duration delay = backoff_base;
  for (int i = 0; i < failures && delay < backoff_max; ++i) delay *= 2;
  return std::min(delay, backoff_max);
}

}  // namespace

struct work_queue::state {
  explicit state(const io::clock& c) : clock(c) {}

  struct waiting_key {
    object_key key;
    io::time_point since;
  };

  // All under the mutex.
  void enqueue(const object_key& key) {
    if (shut_down || !dirty.insert(key).second) return;
    ++counts.adds;
    if (processing.contains(key)) return;
    ready.push_back({key, clock.now()});
    wakeup.notify_one();
  }

  // Of several, the earliest counts.
  void delay_until(const object_key& key, io::time_point due) {
    const auto [place, is_new] = due_of.try_emplace(key, due);
    if (!is_new) {
      if (place->second <= due) return;
      by_due.erase({place->second, key});
      place->second = due;
    }
    by_due.emplace(due, key);
    wakeup.notify_one();  // whoever waits does so for a later one
  }

  void promote_due() {
    const auto now = clock.now();
    while (!by_due.empty() && by_due.begin()->first <= now) {
      const auto node = by_due.extract(by_due.begin());
      due_of.erase(node.value().second);
      enqueue(node.value().second);
    }
  }

  std::optional<object_key> take_ready() {
    if (shut_down) return std::nullopt;
    promote_due();
    if (ready.empty()) return std::nullopt;
    waiting_key next = std::move(ready.front());
    ready.pop_front();
    const auto now = clock.now();
    counts.waited += now - next.since;
    ++counts.taken;
    dirty.erase(next.key);
    processing.emplace(next.key, now);
    return std::move(next.key);
  }

  // Takes a token, in advance when there is none: how long until it is there. `next_token` lags behind now by what the
  // bucket holds, so that a burst costs one number and no arithmetic of fractions.
  io::duration take_token() {
    const auto now = clock.now();
    next_token = std::max(next_token, now - bucket_burst * bucket_interval) + bucket_interval;
    return std::max(io::duration{}, next_token - now);
  }

  const io::clock& clock;
  mutable std::mutex mutex;
  std::condition_variable wakeup;
  bool shut_down = false;
  std::deque<waiting_key> ready;
  std::set<object_key> dirty;  // wants work: in `ready`, or in `processing` and to be run again
  std::map<object_key, io::time_point> processing;
  std::map<object_key, io::time_point> due_of;
  std::set<std::pair<io::time_point, object_key>> by_due;
  std::map<object_key, int> failed;
  io::time_point next_token = io::time_point::min() + std::chrono::hours(1);
  figures counts;
};

work_queue::work_queue(const io::clock& clock) : state_(std::make_unique<state>(clock)) {}
work_queue::~work_queue() = default;

void work_queue::add(const object_key& key) {
  std::lock_guard lock(state_->mutex);
  state_->enqueue(key);
}

void work_queue::add_after(const object_key& key, io::duration delay) {
  std::lock_guard lock(state_->mutex);
  if (state_->shut_down) return;
  if (delay <= io::duration{}) return state_->enqueue(key);
  state_->delay_until(key, state_->clock.now() + delay);
}

void work_queue::add_rate_limited(const object_key& key) {
  std::lock_guard lock(state_->mutex);
  if (state_->shut_down) return;
  ++state_->counts.retries;
  const io::duration delay = std::max(backoff_of(state_->failed[key]++), state_->take_token());
  state_->delay_until(key, state_->clock.now() + delay);
}

void work_queue::forget(const object_key& key) {
  std::lock_guard lock(state_->mutex);
  state_->failed.erase(key);
}

int work_queue::failures(const object_key& key) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->failed.find(key);
  return found == state_->failed.end() ? 0 : found->second;
}

std::optional<object_key> work_queue::take() {
  std::unique_lock lock(state_->mutex);
  while (!state_->shut_down) {
    if (auto key = state_->take_ready()) return key;
    if (state_->by_due.empty()) {
      state_->wakeup.wait(lock);
    } else {
      state_->wakeup.wait_for(lock, state_->by_due.begin()->first - state_->clock.now());
    }
  }
  return std::nullopt;
}

std::optional<object_key> work_queue::try_take() {
  std::lock_guard lock(state_->mutex);
  return state_->take_ready();
}

void work_queue::done(const object_key& key) {
  std::lock_guard lock(state_->mutex);
  BRAID_CHECK(state_->processing.erase(key) == 1, "{} was given back without having been taken", key.to_string());
  if (!state_->dirty.contains(key) || state_->shut_down) return;
  state_->ready.push_back({key, state_->clock.now()});
  state_->wakeup.notify_one();
}

void work_queue::shut_down() {
  std::lock_guard lock(state_->mutex);
  state_->shut_down = true;
  state_->wakeup.notify_all();
}

work_queue::figures work_queue::read_figures() const {
  std::lock_guard lock(state_->mutex);
  figures now = state_->counts;
  now.depth = state_->ready.size();
  now.delayed = state_->by_due.size();
  now.processing = state_->processing.size();
  for (const auto& [key, since] : state_->processing) {
    now.longest_running = std::max<io::duration>(now.longest_running, state_->clock.now() - since);
  }
  return now;
}

}  // namespace braidmq::k8s

#include "runtime/timer_queue.hpp"

namespace braidmq::runtime {

io::timer_id timer_queue::add(io::time_point due, unique_function<void()> callback) {
  ++last_;
  timers_.emplace(key{due, last_}, std::move(callback));
  due_.emplace(last_, due);
  return last_;
}

bool timer_queue::cancel(io::timer_id id) {
  const auto found = due_.find(id);
  if (found == due_.end()) return false;
  const auto timer = timers_.find(key{found->second, id});
  due_.erase(found);
  // The callback is destroyed after it left the map: what it holds may cancel further timers.
  auto dropped = timers_.extract(timer);
  return true;
}

std::optional<io::time_point> timer_queue::next_due() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

std::size_t timer_queue::run_due(io::time_point now) {
  const io::timer_id newest = last_;
  std::size_t ran = 0;
  auto next = timers_.begin();
  while (next != timers_.end() && next->first.first <= now) {
    if (next->first.second > newest) {
      ++next;
      continue;
    }
    auto timer = timers_.extract(next);
    due_.erase(timer.key().second);
    timer.mapped()();
    ++ran;
    next = timers_.begin();  // the callback may have added and cancelled anything
  }
  return ran;
}

void timer_queue::clear() {
  due_.clear();
  auto dropped = std::exchange(timers_, {});
}

}  // namespace braidmq::runtime

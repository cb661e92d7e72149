#include "base/memory_budget.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace braidmq {

memory_lease::memory_lease(memory_lease&& other) noexcept
    : from_(std::move(other.from_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

memory_lease& memory_lease::operator=(memory_lease&& other) noexcept {
  memory_lease old(std::move(*this));
  from_ = std::move(other.from_);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

memory_lease::~memory_lease() {
  if (from_ != nullptr && size_bytes_ > 0) from_->give_back(size_bytes_);
}

void memory_lease::resize(std::size_t size_bytes) {
  if (from_ == nullptr) return;
  const std::size_t before = std::exchange(size_bytes_, size_bytes);
  if (size_bytes > before) {
    from_->used_bytes_ += size_bytes - before;
  } else if (size_bytes < before) {
    from_->give_back(before - size_bytes);
  }
}

memory_wait& memory_wait::operator=(memory_wait&& other) noexcept {
  memory_wait old(std::move(*this));
  in_ = std::move(other.in_);
  place_ = other.place_;
  return *this;
}

memory_wait::~memory_wait() {
  if (in_ != nullptr) in_->forget(place_);
}

std::shared_ptr<memory_budget> memory_budget::create(std::size_t limit_bytes, std::size_t small_bytes) {
  return std::shared_ptr<memory_budget>(new memory_budget(limit_bytes, small_bytes));
}

std::size_t memory_budget::waiting() const {
  const std::lock_guard lock(mutex_);
  return small_waiters_.size() + large_waiters_.size();
}

bool memory_budget::fits(std::size_t size_bytes, std::size_t used) const {
  const bool has_share = small_bytes_ == 0 || is_small(size_bytes);
  const std::size_t limit = has_share ? limit_bytes_ : limit_bytes_ - limit_bytes_ / 4;
  return used == 0 || (used <= limit && size_bytes <= limit - used);
}

bool memory_budget::take_if_fits(std::size_t size_bytes) {
  std::size_t used = used_bytes_;
  while (fits(size_bytes, used)) {
    if (used_bytes_.compare_exchange_weak(used, used + size_bytes)) return true;
  }
  return false;
}

memory_lease memory_budget::try_take(std::size_t size_bytes) {
  if ((has_waiters_ && !is_small(size_bytes)) || !take_if_fits(size_bytes)) return {};
  return {shared_from_this(), size_bytes};
}

memory_wait memory_budget::take_when_free(std::size_t size_bytes, unique_function<void(memory_lease)> granted) {
  std::uint64_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    place = ++last_place_;
    queue& waiting = is_small(size_bytes) ? small_waiters_ : large_waiters_;
    waiting.emplace(place, waiter{size_bytes, std::move(granted)});
    has_waiters_ = true;  // before the look at what is used: who gives back in between sees one of the two
  }
  serve_waiters();
  return {shared_from_this(), place};
}

memory_lease memory_budget::take_up_to(std::size_t size_bytes) {
  std::size_t used = used_bytes_;
  while (used < limit_bytes_) {
    const std::size_t granted = std::min(size_bytes, limit_bytes_ - used);
    if (used_bytes_.compare_exchange_weak(used, used + granted)) return {shared_from_this(), granted};
  }
  return {shared_from_this(), 0};
}

memory_lease memory_budget::take(std::size_t size_bytes) {
  used_bytes_ += size_bytes;
  return {shared_from_this(), size_bytes};
}

void memory_budget::give_back(std::size_t size_bytes) {
  const std::size_t before = used_bytes_.fetch_sub(size_bytes);
  BRAID_CHECK(before >= size_bytes, "{} bytes given back of {}", size_bytes, before);
  if (has_waiters_) serve_waiters();
}

void memory_budget::forget(std::uint64_t place) {
  queue::node_type gone;  // what it owns goes outside the lock
  {
    const std::lock_guard lock(mutex_);
    gone = small_waiters_.extract(place);
    if (gone.empty()) gone = large_waiters_.extract(place);
    if (gone.empty()) return;  // served
    has_waiters_ = !small_waiters_.empty() || !large_waiters_.empty();
  }
  if (has_waiters_) serve_waiters();  // those that it held up
}

// In the order of asking, up to the first for whom there is no room. Whether all were served.
bool memory_budget::serve(queue& waiting, std::vector<waiter>& served) {
  while (!waiting.empty()) {
    const auto first = waiting.begin();
    if (!take_if_fits(first->second.size_bytes)) return false;
    served.push_back(std::move(first->second));
    waiting.erase(first);
  }
  return true;
}

void memory_budget::serve_waiters() {
  std::vector<waiter> served;
  {
    const std::lock_guard lock(mutex_);
    if (serve(small_waiters_, served)) serve(large_waiters_, served);
    has_waiters_ = !small_waiters_.empty() || !large_waiters_.empty();
  }
  for (waiter& one : served) one.granted(memory_lease(shared_from_this(), one.size_bytes));
}

}  // namespace braidmq

#include "server/hand_over.hpp"

#include <algorithm>
#include <utility>

namespace braidmq::server {
namespace {

// Whoever waits less, or not at all, does not end it.
constexpr io::duration shortest_try = std::chrono::seconds(30);

}  // namespace

office_transfer::~office_transfer() {
  for (const waiter& one : waiters_) timers_.cancel(one.timer);
}

std::int32_t office_transfer::held() const {
  const auto leads = [this](const multiraft::office& office) { return office.leader.broker == self_.value() ? 1 : 0; };
  return leads(braid_.office()) + leads(controller_.office());
}

void office_transfer::hand_over(io::duration timeout, unique_function<void()> done) {
  if (stopped_) return done();
  const auto place = waiters_.insert(waiters_.end(), waiter{io::timer_id(), std::move(done)});
  place->timer = timers_.schedule(timeout, [this, place] {
    auto late = std::move(place->done);
    waiters_.erase(place);
    late();
  });
  if (under_way_ == 0)
    begin(timeout);
  else
    next_ = std::max(next_.value_or(timeout), timeout);
}

// Also of a broker that leads nothing now: it is not to be elected any more.
void office_transfer::begin(io::duration timeout) {
  timeout = std::max(timeout, shortest_try);
  under_way_ = 2;
  controller_.hand_over(timeout, [this, alive = std::weak_ptr(alive_)](const status&) {
    if (!alive.expired()) one_done();
  });
  braid_executor_.post([this, alive = std::weak_ptr(alive_), timeout] {
    if (alive.expired()) return;
    braid_.hand_over(timeout, [this, alive](const status&) {
      if (alive.expired()) return;
      metadata_.post([this, alive] {
        if (!alive.expired()) one_done();
      });
    });
  });
}

void office_transfer::one_done() {
  if (--under_way_ > 0 || stopped_) return;
  const auto next = std::exchange(next_, std::nullopt);
  if (held() == 0) return answer_all();
  if (next) begin(*next);
  // Whoever still waits does so until its time is up.
}

void office_transfer::answer_all() {
  for (waiter& one : std::exchange(waiters_, {})) {
    timers_.cancel(one.timer);
    one.done();
  }
}

void office_transfer::stop() {
  stopped_ = true;
  answer_all();
}

}  // namespace braidmq::server

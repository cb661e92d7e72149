// The replica's part that forgets idle producers: the leader looks for them, a little at a time, and proposes it by
// name; apply forgets those that have been idle ever since.
#include <algorithm>
#include <utility>

#include "braid/replica.hpp"

namespace braidmq::braid {
namespace {

// What one task looks at: about a millisecond. A partition with more producers is still looked at whole.
constexpr std::size_t rows_looked_at = 20'000;
// And what it proposes: the look goes on when that is applied.
constexpr std::size_t producers_proposed = 4096;

}  // namespace

void replica::arm_expiry() {
  environment_.timers.cancel(expiry_timer_);
  if (!was_serving_ || !options_.producer_expiration) return;
  expiry_timer_ = environment_.timers.schedule(options_.producer_expiry_interval, [this] {
    expire_producers();
    arm_expiry();
  });
}

void replica::expire_producers() {
  if (!options_.producer_expiration || expiry_next_) return;
  expiry_next_ = model::topic_partition_id{};
  look_for_idle();
}

void replica::look_for_idle() {
  if (!expiry_next_ || stopped_ || failed_ || !group_->node().serves()) return;
  expiry_waits_ = aggregator_.has_expiries() || machine_.applied_index() < expiries_through_;
  if (expiry_waits_) return;
  // By the time of entries, as the rows are.
  const std::int64_t now_ms = std::max(environment_.clock.wall_ms(), machine_.last_entry_time_ms());
  const std::int64_t idle_since_ms = now_ms - options_.producer_expiration->count();
  std::size_t looked_at = 0;
  std::size_t found = 0;
  auto at = machine_.partitions().lower_bound(*expiry_next_);
  for (; at != machine_.partitions().end() && looked_at < rows_looked_at; ++at) {
    producer_expiry expiry{at->first, idle_since_ms, {}};
    at->second->producers().all().for_each([&](model::producer_id id, const partition::producer_state& state) {
      if (state.last_entry_ms <= idle_since_ms && found + expiry.producers.size() < producers_proposed) {
        expiry.producers.push_back(id);
      }
    });
    looked_at += 1 + at->second->producers().size();
    found += expiry.producers.size();
    aggregator_.add(std::move(expiry));
    if (found == producers_proposed) break;  // here may be more
  }
  const bool is_done = at == machine_.partitions().end();
  expiry_next_ = is_done ? std::nullopt : std::optional(at->first);
  if (found > 0) schedule_pump();
  expiry_waits_ = found > 0 && !is_done;
  if (expiry_waits_ || is_done) return;
  environment_.owner.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) look_for_idle();
  });
}

}  // namespace braidmq::braid

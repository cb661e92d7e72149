// The replica's part that lets go of old records: the leader proposes, a little at a time, apply moves the starts, and
// a checkpoint later the files go.
#include <algorithm>
#include <utility>

#include "braid/replica.hpp"

namespace braidmq::braid {

// Anew when leadership begins: what a former leader was about to do is not made up for.
void replica::arm_sweep() {
  environment_.timers.cancel(sweep_timer_);
  if (!was_serving_ || !options_.retention) return;
  sweep_timer_ = environment_.timers.schedule(options_.retention_interval, [this] {
    sweep();
    arm_sweep();
  });
}

void replica::sweep() {
  if (!options_.retention || sweep_next_) return;
  sweep_next_ = model::topic_partition_id{};
  // A task of a sweep that ended with an earlier leadership goes on with this one.
  if (!sweep_posted_) look_for_old();
}

void replica::look_for_old() {
  if (!sweep_next_ || stopped_ || failed_ || !group_->node().serves()) return;
  // What is on its way would be proposed again.
  sweep_waits_ = aggregator_.has_moves() || machine_.applied_index() < moves_through_;
  if (sweep_waits_) return;
  const std::int64_t now_ms = environment_.clock.wall_ms();
  std::optional<model::topic_id> topic;
  retention_policy policy;
  std::size_t found = 0;
  auto at = machine_.partitions().lower_bound(*sweep_next_);
  for (std::size_t left = options_.retention_step; left > 0 && at != machine_.partitions().end(); --left, ++at) {
    const auto& [id, one] = *at;
    if (topic != id.topic) {
      topic = id.topic;
      const topic_state* known = machine_.find_topic(id.topic);
      policy = known == nullptr ? retention_policy() : options_.retention(known->configs);
    }
    std::optional<std::int64_t> oldest_ms;
    if (policy.keep_ms && *policy.keep_ms <= now_ms) oldest_ms = now_ms - *policy.keep_ms;
    // What nobody has seen yet is not old.
    const model::offset start = std::min(one->log().retained_start(oldest_ms, policy.keep_bytes), one->visible_end());
    if (start <= one->start_offset()) continue;
    aggregator_.add(log_start_move{id, start});
    ++found;
  }
  const bool is_done = at == machine_.partitions().end();
  sweep_next_ = is_done ? std::nullopt : std::optional(at->first);
  stats_.log_starts_moved += found;
  if (found > 0) schedule_pump();
  sweep_waits_ = found > 0 && !is_done;
  if (sweep_waits_ || is_done) return;
  sweep_posted_ = true;
  environment_.owner.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    sweep_posted_ = false;
    look_for_old();
  });
}

}  // namespace braidmq::braid

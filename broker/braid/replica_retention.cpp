// The replica's part that lets go of old records: the leader proposes, apply moves the starts, and a checkpoint later
// the files go.
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
  if (!options_.retention || stopped_ || failed_ || !group_->node().serves()) return;
  const std::int64_t now_ms = environment_.clock.wall_ms();
  std::vector<log_start_move> moves;
  std::optional<model::topic_id> topic;
  retention_policy policy;
  for (const auto& [id, one] : machine_.partitions()) {
    if (topic != id.topic) {
      topic = id.topic;
      const topic_state* known = machine_.find_topic(id.topic);
      policy = known == nullptr ? retention_policy() : options_.retention(known->configs);
    }
    std::optional<std::int64_t> oldest_ms;
    if (policy.keep_ms && *policy.keep_ms <= now_ms) oldest_ms = now_ms - *policy.keep_ms;
    // What nobody has seen yet is not old.
    const model::offset start = std::min(one->log().retained_start(oldest_ms, policy.keep_bytes), one->visible_end());
    if (start > one->start_offset()) moves.push_back({id, start});
  }
  if (moves.empty()) return;
  stats_.log_starts_moved += moves.size();
  aggregator_.set_moves(moves);
  schedule_pump();
}

}  // namespace braidmq::braid

// Between a group and its peers: messages get lost, come twice, or come late and so behind others. A connection does
// none of that to what it has taken; a new one after each message would.
#pragma once

#include <memory>

#include "io/timers.hpp"
#include "multiraft/group.hpp"
#include "support/sim_random.hpp"
#include "world/conditions.hpp"

namespace braidmq::sim {

class lossy_peers final : public multiraft::transport {
 public:
  // `rates` may change while it lives. `timers` are of the thread that sends.
  lossy_peers(multiraft::transport& target, const message_faults& rates, io::timer_service& timers, rng chance)
      : target_(target), rates_(rates), timers_(timers), chance_(chance) {}

  void send(raft::group_id group, raft::message message) override {
    if (chance_.chance(rates_.loss)) return;
    if (chance_.chance(rates_.doubling)) send_late(group, message);
    if (chance_.chance(rates_.delay)) return send_late(group, std::move(message));
    target_.send(group, std::move(message));
  }

 private:
  void send_late(raft::group_id group, raft::message message) {
    const auto longest = static_cast<std::uint64_t>(rates_.longest_delay.count());
    timers_.schedule(io::duration(chance_.below(longest + 1)),
                     [this, alive = std::weak_ptr(alive_), group, late = std::move(message)]() mutable {
                       if (!alive.expired()) target_.send(group, std::move(late));
                     });
  }

  multiraft::transport& target_;
  const message_faults& rates_;
  io::timer_service& timers_;
  rng chance_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::sim

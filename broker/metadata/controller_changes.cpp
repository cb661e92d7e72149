// The way of a change into the log: proposed here or by the leader elsewhere, found again when it is applied.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "metadata/controller.hpp"

namespace braidmq::metadata {

std::uint64_t controller::propose(const command& what, io::duration timeout,
                                  unique_function<void(result<outcome>)> done) {
  const std::uint64_t id = ++last_change_;
  if (stopped_) {
    done(fail(errc::stopped));
    return id;
  }
  change& made = changes_[id];
  made.payload = encode(what);
  made.done = std::move(done);
  made.timer = timers_.schedule(timeout, [this, id] {
    const auto found = changes_.find(id);
    if (found == changes_.end()) return;
    const bool is_unknown = found->second.place.has_value() || found->second.was_sent;
    finish(id, is_unknown ? fail(errc::timed_out) : fail(errc::not_controller, "nobody leads the metadata quorum"));
  });
  try_to_place(id);
  return id;
}

void controller::try_to_place(std::uint64_t id) {
  const auto found = changes_.find(id);
  if (found == changes_.end() || found->second.place || found->second.on_its_way) return;
  change& one = found->second;
  const raft::node& node = group_->node();
  if (node.current_role() == raft::role::leader) {
    // Refused while the office is handed over, or when too much is under way: later.
    const auto index = group_->propose(one.payload);
    if (!index) return arm_retry();
    one.was_sent = true;
    return put(id, {*index, node.current_term()});
  }
  if (node.leader().is_none() || options_.leader == nullptr) return arm_retry();
  one.on_its_way = one.was_sent = true;
  // Not longer than an election takes: another one may lead by then.
  constexpr io::duration answer_timeout = std::chrono::seconds(5);
  options_.leader->propose(node.leader(), one.payload, answer_timeout,
                           [this, alive = std::weak_ptr(alive_), id](const result<proposed>& place) {
                             if (!alive.expired() && !stopped_) on_placed(id, place);
                           });
}

void controller::on_placed(std::uint64_t id, const result<proposed>& place) {
  const auto found = changes_.find(id);
  if (found == changes_.end()) return;  // its deadline was first
  found->second.on_its_way = false;
  if (!place && place.error().code != errc::not_controller && place.error().code != errc::timed_out) {
    return finish(id, tl::unexpected(place.error()));
  }
  if (!place) return arm_retry();
  put(id, *place);
}

void controller::put(std::uint64_t id, const proposed& place) {
  const raft::index applied(machine_.current()->index());
  if (place.index > applied) {
    changes_.at(id).place = place;
    places_.emplace(place.index, id);
    return;
  }
  const auto known =
      std::ranges::find(outcomes_, place.index, [](const applied_outcome& one) { return one.place.index; });
  if (known != outcomes_.end() && known->place.term == place.term) return finish(id, known->what);
  // Another entry took its place, or it was so long ago that nobody remembers: proposed again.
  arm_retry();
}

void controller::try_to_place_all() {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, one] : changes_) ids.push_back(id);
  for (const std::uint64_t id : ids) try_to_place(id);
}

void controller::arm_retry() {
  if (stopped_ || retry_timer_) return;
  retry_timer_ = timers_.schedule(options_.retry_interval, [this] {
    retry_timer_.reset();
    try_to_place_all();
  });
}

void controller::finish(std::uint64_t id, result<outcome> outcome) {
  const auto found = changes_.find(id);
  if (found == changes_.end()) return;
  change one = std::move(found->second);
  changes_.erase(found);
  timers_.cancel(one.timer);
  if (one.place) {
    const auto [first, last] = places_.equal_range(one.place->index);
    for (auto at = first; at != last; ++at) {
      if (at->second != id) continue;
      places_.erase(at);
      break;
    }
  }
  if (proposed_registration_ && proposed_registration_->first == id) proposed_registration_.reset();
  one.done(std::move(outcome));
}

void controller::note_outcome(const raft::entry& entry, const outcome& what) {
  outcomes_.push_back({{entry.index, entry.term}, what});
  if (outcomes_.size() > kept_outcomes) outcomes_.pop_front();
  while (!places_.empty() && places_.begin()->first <= entry.index) {
    const std::uint64_t id = places_.begin()->second;
    change& one = changes_.at(id);
    if (one.place->index == entry.index && one.place->term == entry.term) {
      finish(id, what);
      continue;
    }
    // Another leader's entry took the place: the change is not in the log, and is proposed again.
    places_.erase(places_.begin());
    one.place.reset();
    arm_retry();
  }
}

void controller::propose_for(const bytes& payload, unique_function<void(result<proposed>)> done) {
  if (stopped_) return done(fail(errc::not_controller, "it is about to stop"));
  if (auto known = decode(payload); !known) return done(fail(errc::invalid_request, known.error().to_string()));
  const auto index = group_->propose(payload);
  if (!index) return done(fail(errc::not_controller, index.error().to_string()));
  done(proposed{*index, group_->node().current_term()});
}

// ---- the office ----

void controller::office_changed() {
  note_office();
  if (stopped_) return;
  const multiraft::office now = office();
  founding_proposed_ = founding_proposed_ && now.serves;
  for (auto& listener : on_office_) listener(now);
  look_whether_current();
  settle_identity();
  try_to_place_all();
  try_hand_over();
}

void controller::hand_over(io::duration timeout, unique_function<void(status)> done) {
  group_->set_campaigns(false);
  if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::stopped, "asked for again"));
  timers_.cancel(hand_over_timer_);
  on_handed_over_ = std::move(done);
  hand_over_timer_ = timers_.schedule(timeout, [this] {
    if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::timed_out, "nobody took over"));
  });
  try_hand_over();
}

void controller::try_hand_over() {
  if (!on_handed_over_ || stopped_) return;
  timers_.cancel(hand_over_retry_);
  if (group_->node().current_role() != raft::role::leader) {
    timers_.cancel(hand_over_timer_);
    return std::exchange(on_handed_over_, nullptr)({});
  }
  // Refused while one is under way, which ends by itself.
  static_cast<void>(group_->transfer());
  hand_over_retry_ = timers_.schedule(options_.retry_interval, [this] { try_hand_over(); });
}

// A member that does not lead knows what was acknowledged before its start when it has applied what the leader says.
void controller::look_whether_current() {
  if (stopped_ || is_current() || asks_whether_current_ || current_at_) return;
  if (options_.group.raft.voters.size() == 1) return;  // its own first entry says it
  asks_whether_current_ = true;
  group_->read_index([this, alive = std::weak_ptr(alive_)](result<raft::index> at) {
    if (alive.expired() || stopped_) return;
    asks_whether_current_ = false;
    if (at) {
      current_at_ = *at;
      if (raft::index(machine_.current()->index()) >= *at) become_current();
      return;
    }
    timers_.schedule(options_.retry_interval, [this, alive] {
      if (!alive.expired()) look_whether_current();
    });
  });
}

void controller::become_current() {
  if (stopped_ || is_current_.exchange(true, std::memory_order_acq_rel)) return;
  tell_waiters({});
  settle_identity();
}

}  // namespace braidmq::metadata

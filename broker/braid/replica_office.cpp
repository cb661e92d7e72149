// The replica's part that has to do with who leads: what becomes of what waits when the office changes, its hand-over,
// and what is only said by a leader that knows that it still leads.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "braid/replica.hpp"
#include "partition/partition.hpp"

namespace braidmq::braid {
namespace {

offset_answer refused(std::error_code why) {
  offset_answer answer;
  answer.error = why;
  return answer;
}

}  // namespace

multiraft::office replica::office() const {
  const std::lock_guard guard(office_mutex_);
  return office_;
}

void replica::note_office() {
  const raft::node& node = group_->node();
  const multiraft::office now{node.current_term(), node.leader(), node.serves() && !stopped_ && !failed_};
  {
    const std::lock_guard guard(office_mutex_);
    if (std::exchange(office_, now) == now) return;
  }
  if (on_office_) on_office_(now);
}

void replica::office_changed() {
  if (stopped_ || failed_) return;
  look_for_successor();
  if (group_->node().current_role() != raft::role::leader) drop_queue();
  tell_serving();
  // What waits here is asked elsewhere, or looked at again.
  if (!group_->node().serves()) purgatory_.stop();
  look_whether_caught_up();
  if (held_) pump();
  propose_missing();
  answer_waiters();
  try_hand_over();
}

void replica::snapshot_wanted(const raft::node_id& peer) {
  if (on_snapshot_wanted_) on_snapshot_wanted_(peer);
}

// What has no place in the log yet does not get one here any more.
void replica::drop_queue() {
  if (held_) refuse(*std::exchange(held_, std::nullopt), {multiraft::make_error_code(multiraft::errc::not_leader), {}});
  for (const request_id id : aggregator_.take_all()) {
    when_leader_is_known([this, id] { answer(id, fail(errc::not_leader)); });
  }
  changing_.clear();
  for (const in_flight_entry& one : in_flight_) changing_.insert(one.topics.begin(), one.topics.end());
}

// A client that hears that nobody leads goes through its back-off; one that hears who does goes there at once. Who led
// until now hears of the next one soon, or a whole election is due.
void replica::look_for_successor() {
  const raft::node& node = group_->node();
  const bool leads = node.current_role() == raft::role::leader;
  if (std::exchange(was_leader_, leads) && !leads && node.leader().is_none()) {
    awaits_successor_ = true;
    environment_.timers.cancel(unsaid_timer_);
    unsaid_timer_ = environment_.timers.schedule(options_.successor_patience, [this] { say_who_leads(); });
  } else if (!node.leader().is_none()) {
    // Once others can be told of it, too.
    environment_.owner.post([this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired() && !group_->node().leader().is_none()) say_who_leads();
    });
  }
}

void replica::when_leader_is_known(unique_function<void()> say) {
  if (!awaits_successor_ || stopped_) return say();
  unsaid_.push_back(std::move(say));
}

void replica::say_who_leads() {
  awaits_successor_ = false;
  environment_.timers.cancel(unsaid_timer_);
  for (auto& say : std::exchange(unsaid_, {})) say();
}

void replica::hand_over(io::duration timeout, unique_function<void(status)> done) {
  if (stopped_) return done(fail(errc::stopped));
  group_->set_campaigns(false);
  if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::stopped, "asked for again"));
  environment_.timers.cancel(hand_over_timer_);
  on_handed_over_ = std::move(done);
  hand_over_timer_ = environment_.timers.schedule(timeout, [this] {
    if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::timed_out, "nobody took over"));
  });
  try_hand_over();
}

void replica::try_hand_over() {
  if (!on_handed_over_ || stopped_) return;
  environment_.timers.cancel(hand_over_retry_);
  if (group_->node().current_role() != raft::role::leader) {
    environment_.timers.cancel(hand_over_timer_);
    return std::exchange(on_handed_over_, nullptr)({});
  }
  // Refused while one is under way, which ends by itself.
  static_cast<void>(group_->transfer());
  hand_over_retry_ = environment_.timers.schedule(options_.retry_interval, [this] { try_hand_over(); });
}

// ---- catching up ----

void replica::look_whether_caught_up() {
  if (stopped_ || is_caught_up_ || asks_whether_caught_up_ || caught_up_at_) return;
  if (options_.group.raft.voters.size() == 1) return;  // its own first entry says it
  asks_whether_caught_up_ = true;
  group_->read_index([this, alive = std::weak_ptr(alive_)](result<raft::index> at) {
    if (alive.expired() || stopped_) return;
    asks_whether_caught_up_ = false;
    if (at) {
      caught_up_at_ = *at;
      if (machine_.applied_index() >= *at) note_caught_up();
      return;
    }
    constexpr io::duration pause = std::chrono::milliseconds(50);
    environment_.timers.schedule(pause, [this, alive] {
      if (!alive.expired()) look_whether_caught_up();
    });
  });
}

void replica::note_caught_up() {
  if (std::exchange(is_caught_up_, true)) return;
  stats_.start.entries_applied = stats_.entries_applied;
  stats_.start.bytes_applied = stats_.entry_bytes_applied;
  stats_.start.applied_took = environment_.clock.now() - started_at_;
  // What an earlier life had written beyond is written anew by now, as far as the log has it.
  for (const auto& [id, one] : machine_.partitions()) one->log().cut_leftovers();
  if (on_caught_up_) on_caught_up_();
}

// ---- what only a confirmed leader says ----

void replica::confirm_office(unique_function<void(status)> confirmed) {
  if (options_.group.raft.voters.size() == 1) return confirmed({});
  group_->read_index(
      [this, alive = std::weak_ptr(alive_), confirmed = std::move(confirmed)](result<raft::index> at) mutable {
        if (alive.expired()) return;
        if (stopped_) return confirmed(fail(errc::stopped));
        if (!at) return confirmed(fail(errc::not_leader, at.error().to_string()));
        if (machine_.visible_index() >= *at) return confirmed({});
        confirmed_.emplace(*at, std::move(confirmed));
      });
}

void replica::run_confirmed() {
  while (!confirmed_.empty() && confirmed_.begin()->first <= machine_.visible_index()) {
    auto waiting = confirmed_.extract(confirmed_.begin());
    waiting.mapped()({});
  }
}

// A client that hears of an offset out of range begins anew somewhere else: a leader that was deposed without knowing
// it must not say that of an offset that the next one has given.
bool replica::must_confirm(const fetch_request& request, const fetch_answer& answer) const {
  if (request.is_confirmed || options_.group.raft.voters.size() == 1 || !group_->node().serves()) return false;
  return std::ranges::any_of(answer.slices, [](const auto& slice) { return slice.error == errc::offset_out_of_range; });
}

void replica::confirm_fetch(std::shared_ptr<fetch_request> request, io::time_point deadline,
                            unique_function<void(result<fetch_answer>)> done) {
  confirm_office(
      [this, request = std::move(request), deadline, done = std::move(done)](const status& confirmed) mutable {
        if (!confirmed) return done(fail(confirmed.error().code == errc::stopped ? errc::stopped : errc::not_leader));
        request->is_confirmed = true;
        run_fetch(std::move(request), deadline, std::move(done));
      });
}

void replica::find_offset(offset_query query, unique_function<void(offset_answer)> done) {
  using kind = offset_query::kind;
  // A start may be an old one everywhere; an end must be nobody's that was deposed meanwhile.
  if (query.what == kind::earliest || query.what == kind::at_timestamp) {
    return look_up(std::move(query), false, std::move(done));
  }
  confirm_office([this, query = std::move(query), done = std::move(done)](const status& confirmed) mutable {
    if (!confirmed) return done(refused(confirmed.error().code == errc::stopped ? errc::stopped : errc::not_leader));
    look_up(std::move(query), true, std::move(done));
  });
}

offset_answer replica::end_of(const partition::partition& target, bool earliest) const {
  const model::offset end = target.visible_end();
  const model::offset at = earliest ? target.start_offset() : end;
  const model::leader_epoch at_end = target.epoch_of_term(group_->node().current_term().value());
  return {{}, at, -1, at == end ? at_end : target.epochs().epoch_of(at).value_or(at_end)};
}

void replica::look_up(offset_query query, bool is_confirmed, unique_function<void(offset_answer)> done) {
  using kind = offset_query::kind;
  partition::partition* target = machine_.find(query.target);
  if (stopped_) return done(refused(errc::stopped));
  if (!group_->node().serves()) return done(refused(errc::not_leader));
  if (const auto wrong = check_epoch(target, query.current_epoch, group_->node().current_term())) {
    return done(refused(wrong));
  }
  if (query.what == kind::earliest || query.what == kind::latest) {
    return done(end_of(*target, query.what == kind::earliest));
  }
  auto on_match = [this, alive = std::weak_ptr(alive_), query, is_confirmed,
                   done = std::move(done)](result<std::optional<storage::timestamp_match>> match) mutable {
    if (alive.expired()) return;
    const partition::partition* searched = machine_.find(query.target);
    if (!match) return done(refused(errc::storage_failed));
    if (searched == nullptr) return done(refused(errc::unknown_partition));
    if (const auto& found = *match) {
      return done({{},
                   found->offset,
                   found->timestamp_ms,
                   searched->epochs().epoch_of(found->offset).value_or(model::no_epoch)});
    }
    if (is_confirmed) return done(offset_answer());
    // That there is none is said by a leader that knows of all that was acknowledged.
    confirm_office([this, query, done = std::move(done)](const status& confirmed) mutable {
      if (!confirmed) return done(refused(errc::not_leader));
      look_up(query, true, std::move(done));
    });
  };
  const model::offset end = target->visible_end();
  if (query.what == kind::max_timestamp) {
    target->log().find_max_timestamp(end, std::move(on_match));
  } else {
    target->log().find_timestamp(query.timestamp_ms, end, std::move(on_match));
  }
}

}  // namespace braidmq::braid

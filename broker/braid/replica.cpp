#include "braid/replica.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "braid/checkpoint.hpp"
#include "braid/replica_logs.hpp"

namespace braidmq::braid {
namespace {

// How long a fetch waits at most for somebody who is gone.
constexpr io::duration abandoned_after = std::chrono::seconds(5);
// And how soon one that found no memory looks again: others' answers leave at the pace of their readers.
constexpr io::duration memory_probe = std::chrono::milliseconds(20);

}  // namespace

result<std::unique_ptr<replica>> replica::create(replica_options options, replica_environment environment,
                                                 unique_function<void(error)> on_fatal) {
  options.checkpoint.group = options.group.id;
  options.log.writes_when_told = options.write_behind_delay > io::duration::zero();
  start_stats figures;
  const io::time_point before_reading = environment.clock.now();
  BRAID_TRY(loaded,
            read_checkpoint(environment.fs, options.checkpoint.path, options.group.id, options.newest_apply_level));
  const io::time_point before_opening = environment.clock.now();
  figures.checkpoint_read_took = before_opening - before_reading;
  if (loaded) {
    options.group.applied = figures.loaded = loaded->applied;
    options.group.applied_term = loaded->applied_term;
  }
  std::unique_ptr<replica> made(new replica(std::move(options), environment, std::move(on_fatal)));
  auto group = multiraft::group::create(made->options_.group, environment.wal, *made, environment.owner,
                                        environment.timers, [self = made.get()](error why) { self->fatal(why); });
  if (!group) return tl::unexpected(std::move(group).error());
  made->group_ = environment.wrap_group ? environment.wrap_group(std::move(*group)) : std::move(*group);
  if (loaded) BRAID_TRY_VOID(made->load(std::move(*loaded)));
  BRAID_TRY_VOID(made->remove_orphans());
  figures.partitions = made->machine_.partitions().size();
  figures.partitions_opened_took = environment.clock.now() - before_opening;
  made->stats_.start = figures;
  return made;
}

replica::replica(replica_options options, replica_environment environment, unique_function<void(error)> on_fatal)
    : options_(std::move(options)),
      environment_(environment),
      on_fatal_(std::move(on_fatal)),
      logs_(std::make_unique<logs>(*this)),
      machine_(*logs_, options_.newest_apply_level),
      aggregator_(options_.aggregator),
      purgatory_(environment_.timers),
      checkpointer_(
          options_.checkpoint,
          {environment_.fs, environment_.background, environment_.owner, environment_.timers, environment_.clock},
          *this, [this](error why) { fatal(std::move(why)); }),
      retention_(options_.group.raft.voters.size(), options_.retain_bytes) {}

replica::~replica() {
  for (const auto& [id, parked] : parked_) environment_.timers.cancel(parked.timer);
  for (const topic_waiter& waiter : topic_waiters_) environment_.timers.cancel(waiter.timer);
  environment_.timers.cancel(sweep_timer_);
  environment_.timers.cancel(expiry_timer_);
  environment_.timers.cancel(hand_over_timer_);
  environment_.timers.cancel(hand_over_retry_);
  environment_.timers.cancel(unsaid_timer_);
  if (gather_timer_) environment_.timers.cancel(*gather_timer_);
  if (held_timer_) environment_.timers.cancel(*held_timer_);
}

void replica::start() {
  const raft::index loaded = machine_.applied_index();
  started_at_ = environment_.clock.now();
  checkpointer_.start(loaded);
  // A kill may have come between the checkpoint and this.
  if (loaded > raft::index(0)) {
    retention_.checkpointed(loaded, environment_.wal.statistics().bytes_written);
    let_go_of_log();
  }
  group_->start();
}

void replica::stop() {
  if (stopped_) return;
  stopped_ = true;
  tell_serving();
  group_->stop();
  checkpointer_.stop();
  environment_.timers.cancel(sweep_timer_);
  environment_.timers.cancel(expiry_timer_);
  write_gathered();
  aggregator_.take_all();
  held_.reset();
  while (!parked_.empty()) answer(parked_.begin()->first, fail(errc::stopped));
  for (auto& [index, waiting] : std::exchange(confirmed_, {})) waiting(fail(errc::stopped));
  if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::stopped));
  say_who_leads();
  purgatory_.stop();
  for (topic_waiter& waiter : std::exchange(topic_waiters_, {})) {
    environment_.timers.cancel(waiter.timer);
    waiter.done(fail(errc::stopped));
  }
}

// ---- produce ----

void replica::produce(produce_request request, unique_function<void()> accepted,
                      unique_function<void(result<unit_outcome>)> done) {
  std::error_code refusal;
  if (stopped_)
    refusal = errc::stopped;
  else if (failed_)
    refusal = errc::storage_failed;
  else if (!group_->node().serves())
    refusal = errc::not_leader;
  else if (disk_full_)
    refusal = errc::disk_full;
  else if (aggregator_.too_large(request.unit))
    refusal = errc::too_large;
  if (refusal) {
    accepted();
    if (refusal != errc::not_leader) return done(fail(refusal));
    return when_leader_is_known([done = std::move(done)]() mutable { done(fail(errc::not_leader)); });
  }
  const request_id id = ++last_request_;
  parked_produce& parked = parked_[id];
  parked.done = std::move(done);
  // The request keeps its place in the queue: taking it out would let the ones that were pipelined behind it pass, and
  // an idempotent producer could never send it again. The answer says that the outcome is unknown.
  parked.timer = environment_.timers.schedule(request.timeout, [this, id] { answer(id, fail(errc::timed_out)); });
  aggregator_.add(id, std::move(request.unit), std::move(accepted));
  schedule_pump();
}

void replica::answer(request_id id, result<unit_outcome> outcome) {
  const auto found = parked_.find(id);
  if (found == parked_.end()) return;  // its deadline was first
  parked_produce parked = std::move(found->second);
  parked_.erase(found);
  environment_.timers.cancel(parked.timer);
  parked.done(std::move(outcome));
}

void replica::schedule_pump() {
  if (pump_scheduled_ || aggregator_.empty()) return;
  pump_scheduled_ = true;
  auto run = [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    pump_scheduled_ = false;
    pump();
  };
  if (options_.linger > io::duration::zero()) {
    environment_.timers.schedule(options_.linger, std::move(run));
  } else {
    environment_.owner.post(std::move(run));
  }
}

void replica::pump() {
  if (stopped_ || failed_) return;
  if (held_ && !propose(*std::exchange(held_, std::nullopt))) return;
  while (!aggregator_.empty() && in_flight_.size() < options_.entries_in_flight &&
         in_flight_bytes_ < options_.in_flight_bytes) {
    auto entry = aggregator_.build();
    if (!entry || !propose(std::move(*entry))) return;
  }
}

bool replica::propose(built_entry entry) {
  last_proposed_time_ms_ =
      std::max({environment_.clock.wall_ms(), last_proposed_time_ms_, machine_.last_entry_time_ms()});
  entry.command.leader_time_ms = last_proposed_time_ms_;
  const auto index = group_->propose(encode(entry.command, machine_.level()));
  if (!index) {
    const bool passes =
        index.error().code == multiraft::errc::transferring || index.error().code == multiraft::errc::busy;
    if (!passes) {
      refuse(entry, index.error());
      return true;
    }
    // It keeps its place before all that waits, until the office is handed over, or is not.
    held_ = std::move(entry);
    if (!held_timer_) {
      held_timer_ = environment_.timers.schedule(options_.retry_interval, [this] {
        held_timer_.reset();
        pump();
      });
    }
    return false;
  }
  if (!entry.command.log_starts.empty()) moves_through_ = *index;
  if (!entry.command.expiries.empty()) expiries_through_ = *index;
  if (entry.command.apply_level > 0) level_at_ = *index;
  in_flight_.push_back(
      {*index, group_->node().current_term(), entry.size_bytes, std::move(entry.requests), std::move(entry.topics)});
  in_flight_bytes_ += entry.size_bytes;
  return true;
}

// Nothing was taken, so nothing will be applied: whoever asked may try again at once.
void replica::refuse(const built_entry& entry, const error& why) {
  for (const request_id id : entry.requests) {
    when_leader_is_known([this, id, words = why.to_string()] { answer(id, fail(errc::not_leader, words)); });
  }
  for (const model::topic_id& topic : entry.topics) changing_.erase(topic);
}

// ---- what the group committed ----

bool replica::can_apply() const {
  return !failed_ && write_behind_bytes_ < options_.write_behind_max_bytes;
}

void replica::apply(const raft::entry& entry) {
  auto applying = machine_.apply(entry);
  if (!applying) return fatal(std::move(applying).error());
  std::vector<unit_outcome> outcomes = std::move(*applying);
  ++stats_.entries_applied;
  stats_.entry_bytes_applied += entry.payload.size();
  unpublished_entry_bytes_ += entry.payload.size();
  applied_term_ = entry.term;
  if (on_state_hash_ && entry.index.value() % options_.state_hash_interval == 0) {
    on_state_hash_(entry.index, machine_.hash());
  }
  stats_.units_applied += outcomes.size();
  for (const unit_outcome& unit : outcomes) {
    for (const slice_outcome& slice : unit.slices) {
      if (slice.error)
        ++stats_.slices_refused;
      else if (slice.duplicate)
        ++stats_.slices_duplicate;
      else
        ++stats_.slices_appended;
    }
  }
  answer_lost(entry);
  if (in_flight_.empty() || in_flight_.front().index != entry.index) return;
  in_flight_entry ours = std::move(in_flight_.front());
  in_flight_.pop_front();
  in_flight_bytes_ -= ours.size_bytes;
  for (const model::topic_id& topic : ours.topics) changing_.erase(topic);
  outcomes_.emplace_back(std::move(ours.requests), std::move(outcomes));
}

// What another leader's entry has taken the place of is gone for good, and so is all of its term behind it: no log has
// both.
void replica::answer_lost(const raft::entry& entry) {
  while (!in_flight_.empty() && (in_flight_.front().index < entry.index || in_flight_.front().term < entry.term)) {
    in_flight_entry lost = std::move(in_flight_.front());
    in_flight_.pop_front();
    in_flight_bytes_ -= lost.size_bytes;
    for (const model::topic_id& topic : lost.topics) changing_.erase(topic);
    for (const request_id id : lost.requests) answer(id, fail(errc::not_leader));
  }
}

void replica::applied(raft::index index) {
  const std::vector<published> grown = machine_.publish();
  write_behind(grown);
  for (auto& deleted : machine_.take_deleted()) retire(std::move(deleted));
  if (index != machine_.applied_index()) {
    BRAID_CHECK(failed_, "applied {}, told of {}", machine_.applied_index(), index);
    return;  // an entry could not be applied: nothing is answered any more
  }
  for (auto& [requests, outcomes] : std::exchange(outcomes_, {})) {
    BRAID_CHECK(requests.size() == outcomes.size());
    for (std::size_t i = 0; i < requests.size(); ++i) answer(requests[i], std::move(outcomes[i]));
  }
  purgatory_.on_published(grown);
  run_confirmed();
  if (group_->node().serves() || (caught_up_at_ && index >= *caught_up_at_)) note_caught_up();
  tell_serving();
  propose_level();
  propose_missing();
  answer_waiters();
  if (sweep_waits_) look_for_old();
  if (expiry_waits_) look_for_idle();
  schedule_pump();
  checkpointer_.applied(index, std::exchange(unpublished_entry_bytes_, 0), applied_term_);
}

void replica::tell_serving() {
  note_office();
  const bool serves = group_->node().serves() && !stopped_ && !failed_;
  if (std::exchange(was_serving_, serves) == serves) return;
  if (!serves) purgatory_.stop();  // what waits here would wait for nothing
  sweep_next_.reset();
  sweep_waits_ = false;
  arm_sweep();
  expiry_next_.reset();
  arm_expiry();
  if (on_serving_) on_serving_(serves);
}

void replica::note_level(const raft::node_id& voter, std::int16_t newest) {
  levels_[voter] = newest;
  propose_level();
}

// The newest level of apply that all members of the group know. While one has not said which, nothing is raised.
std::int16_t replica::level_of_members() const {
  std::int16_t newest = options_.newest_apply_level;
  for (const raft::node_id& voter : options_.group.raft.voters) {
    if (voter == options_.group.raft.self) continue;
    const auto known = levels_.find(voter);
    if (known == levels_.end()) return machine_.level();
    newest = std::min(newest, known->second);
  }
  return std::max(newest, machine_.level());
}

void replica::propose_level() {
  if (stopped_ || !group_->node().serves()) return;
  const bool is_under_way = machine_.applied_index() < level_at_;
  if (is_under_way || machine_.level() >= level_of_members()) return;
  aggregator_.set_level(level_of_members());
  schedule_pump();
}

void replica::write_behind(const std::vector<published>& grown) {
  for (const published& one : grown) {
    write_behind_bytes_ += one.bytes;
    stats_.bytes_appended += one.bytes;
    if (!options_.log.writes_when_told) continue;
    gathered_bytes_ += one.bytes;
    gathering_.insert(one.partition->id());
  }
  // Apply waits for bytes that are written, so that they must not wait for more of them.
  const std::size_t most = std::min(options_.write_behind_gathered_bytes, options_.write_behind_max_bytes / 2);
  if (gathered_bytes_ >= most) return write_gathered();
  if (gathering_.empty() || gather_timer_) return;
  gather_timer_ = environment_.timers.schedule(options_.write_behind_delay, [this] {
    gather_timer_.reset();
    write_gathered();
  });
}

void replica::write_gathered() {
  gathered_bytes_ = 0;
  for (const model::topic_partition_id& id : std::exchange(gathering_, {})) {
    if (partition::partition* one = machine_.find(id)) one->log().write_pending();
  }
}

void replica::on_written(std::size_t bytes) {
  BRAID_CHECK(bytes <= write_behind_bytes_, "{} written of {}", bytes, write_behind_bytes_);
  write_behind_bytes_ -= bytes;
  if (can_apply()) group_->resume();
}

void replica::fatal(error why) {
  if (std::exchange(failed_, true)) return;
  tell_serving();
  on_fatal_(std::move(why));
}

// ---- fetch ----

// A follower gives what it has applied, as long as it hears of a leader: it lags by a little, and not for ever.
bool replica::may_answer(const fetch_request& request) const {
  const raft::node& node = group_->node();
  if (node.serves()) return true;
  return request.from_follower_allowed && is_caught_up_ && node.current_role() == raft::role::follower &&
         !node.leader().is_none();
}

void replica::fetch(fetch_request request, unique_function<void(result<fetch_answer>)> done) {
  if (stopped_ || failed_) return done(fail(stopped_ ? errc::stopped : errc::storage_failed));
  if (!may_answer(request)) {
    return when_leader_is_known([done = std::move(done)]() mutable { done(fail(errc::not_leader)); });
  }
  request.min_bytes = std::min(request.min_bytes, request.max_bytes);
  const io::time_point deadline = environment_.clock.now() + request.max_wait;
  run_fetch(std::make_shared<fetch_request>(std::move(request)), deadline, std::move(done));
}

void replica::run_fetch(std::shared_ptr<fetch_request> request, io::time_point deadline,
                        unique_function<void(result<fetch_answer>)> done) {
  // One that waited while the office changed.
  if (!stopped_ && !may_answer(*request)) {
    return when_leader_is_known([done = std::move(done)]() mutable { done(fail(errc::not_leader)); });
  }
  fetch_operation::run(machine_, group_->node().current_term(), group_->node().serves(), *request,
                       [this, alive = std::weak_ptr(alive_), request, deadline,
                        done = std::move(done)](fetch_operation::outcome outcome) mutable {
                         if (alive.expired()) return;
                         end_fetch_pass(std::move(request), deadline, std::move(outcome), std::move(done));
                       });
}

void replica::end_fetch_pass(std::shared_ptr<fetch_request> request, io::time_point deadline,
                             fetch_operation::outcome outcome, unique_function<void(result<fetch_answer>)> done) {
  if (must_confirm(*request, outcome.answer)) return confirm_fetch(std::move(request), deadline, std::move(done));
  const io::time_point now = environment_.clock.now();
  const bool wanted = request->abandoned == nullptr || !*request->abandoned;
  if (!wanted || outcome.answer_now || outcome.total_bytes >= request->min_bytes || now >= deadline || stopped_ ||
      !waits_) {
    done(std::move(outcome.answer));
    return;
  }
  if (has_news(*request, outcome.answer)) {
    environment_.owner.post([this, alive = std::weak_ptr(alive_), request = std::move(request), deadline,
                             done = std::move(done)]() mutable {
      if (!alive.expired()) run_fetch(std::move(request), deadline, std::move(done));
    });
    return;
  }
  request->is_confirmed = false;
  const std::size_t missing = request->min_bytes - outcome.total_bytes;
  const fetch_request& what = *request;
  // Long waits come up now and then to see whether they are still wanted.
  const io::duration step = outcome.short_of_memory ? memory_probe : abandoned_after;
  const bool to_the_end = deadline - now <= step;
  purgatory_.park(what.slices, missing, to_the_end ? deadline - now : step,
                  [this, request = std::move(request), deadline, to_the_end,
                   done = std::move(done)](fetch_purgatory::wakeup why) mutable {
                    // A wake-up at the deadline reads once more, with the deadline in the past.
                    const bool last = (to_the_end && why == fetch_purgatory::wakeup::deadline) ||
                                      why == fetch_purgatory::wakeup::stopped;
                    run_fetch(std::move(request), last ? io::time_point::min() : deadline, std::move(done));
                  });
}

// Whether something became visible while the pass was reading, which no waiter would hear of.
bool replica::has_news(const fetch_request& request, const fetch_answer& answer) {
  for (std::size_t i = 0; i < request.slices.size(); ++i) {
    const partition::partition* target = machine_.find(request.slices[i].target);
    if (target == nullptr || target->visible_end() != answer.slices[i].visible_end) return true;
  }
  return false;
}

void replica::stop_waiting() {
  waits_ = false;
  purgatory_.stop();
}

// ---- numbers ----

replica_stats replica::statistics() const {
  replica_stats now = stats_;
  const raft::node& node = group_->node();
  now.serves = node.serves() && !stopped_ && !failed_;
  now.term = node.current_term();
  now.commit_index = node.commit_index();
  now.applied_index = machine_.applied_index();
  now.visible_index = machine_.visible_index();
  now.topics = machine_.topic_count();
  now.partitions = machine_.partitions().size();
  now.apply_level = machine_.level();
  now.producers = machine_.producer_count();
  now.producers_expired = machine_.producers_expired();
  now.producers_evicted = machine_.producers_evicted();
  now.partitions_being_removed = retired_.size();
  now.queued_bytes = aggregator_.queued_bytes();
  now.write_behind_bytes = write_behind_bytes_;
  now.parked_produces = parked_.size();
  now.parked_fetches = purgatory_.size();
  now.checkpoints = checkpointer_.statistics();
  if (node.current_role() == raft::role::leader) {
    for (const raft::progress& one : node.peers()) {
      now.peers.push_back({one.id(), one.match(), one.current() == raft::progress::state::snapshot});
    }
  }
  return now;
}

}  // namespace braidmq::braid

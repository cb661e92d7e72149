#include "multiraft/group.hpp"

#include <utility>

#include "base/check.hpp"
#include "multiraft/entry_tail.hpp"

namespace braidmq::multiraft {
namespace {

// Callbacks of the WAL, of timers and of posted tasks come through `guarded`, which lets none of them reach a group
// that is gone or has stopped.
class group_impl final : public group {
 public:
  group_impl(group_options options, raft::node node, raft::index first_in_wal, wal::log& wal, state_machine& machine,
             io::executor& owner, io::timer_service& timers, unique_function<void(error)> on_fatal)
      : options_(std::move(options)),
        node_(std::move(node)),
        first_in_wal_(first_in_wal),
        last_in_wal_at_start_(node_.last_index()),
        wal_(wal),
        machine_(machine),
        owner_(owner),
        timers_(timers),
        on_fatal_(std::move(on_fatal)),
        applied_(options_.applied) {}

  ~group_impl() override { stop(); }

  void start() override {
    BRAID_CHECK(!started_, "started twice");
    started_ = true;
    if (options_.raft.voters.size() == 1) node_.campaign();
    arm_tick();
    pump();
  }

  void stop() override {
    if (stopped_) return;
    stopped_ = true;
    alive_.reset();
    timers_.cancel(tick_);
  }

  result<raft::index> propose(bytes command) override {
    if (stopped_) return fail(errc::stopped);
    if (node_.current_role() != raft::role::leader) return fail(errc::not_leader);
    if (unapplied_bytes() > 0 && (unapplied_bytes() > options_.max_unapplied_bytes ||
                                  command.size() > options_.max_unapplied_bytes - unapplied_bytes())) {
      return fail(errc::busy, fmt::format("{} bytes are unapplied", unapplied_bytes()));
    }
    auto index = node_.propose(std::move(command));
    BRAID_CHECK(index.has_value(), "a leader refuses: {}", index.error().to_string());
    pump();
    return index;
  }

  void resume() override {
    if (!blocked_) return;
    blocked_ = false;
    schedule_apply();
  }

  const raft::node& node() const override { return node_; }
  std::size_t unapplied_bytes() const override { return tail_.size_bytes(); }

 private:
  template <class F>
  auto guarded(F callback) {
    return [alive = std::weak_ptr<int>(alive_), callback = std::move(callback)](auto&&... arguments) mutable {
      if (!alive.expired()) callback(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  void arm_tick() {
    tick_ = timers_.schedule(options_.tick_interval, guarded([this] {
                               arm_tick();
                               node_.tick();
                               pump();
                             }));
  }

  // Carries out what the node asks for.
  void pump() {
    while (!stopped_ && node_.has_ready()) {
      raft::ready ready = node_.take_ready();
      BRAID_CHECK(ready.messages.empty(), "a message without a peer");
      if (raft::needs_persisting(ready)) {
        wal::append_item item{options_.id, ready.state, ready.entries};
        tail_.append(std::move(ready.entries));
        wal_.append(std::move(item), guarded([this, last = node_.last_index(), term = node_.last_term()](
                                                 status written) { on_persisted(std::move(written), last, term); }));
      }
      BRAID_CHECK(ready.commit >= commit_, "commit falls from {} to {}", commit_, ready.commit);
      commit_ = ready.commit;
    }
    schedule_apply();
  }

  void on_persisted(status written, raft::index last, raft::term last_term) {
    if (!written) {
      fatal(with_context(std::move(written).error(), fmt::format("Raft group {}: write to the WAL", options_.id)));
      return;
    }
    node_.persisted(last, last_term);
    pump();
  }

  void schedule_apply() {
    if (stopped_ || apply_scheduled_ || blocked_ || applied_ >= commit_) return;
    if (reading_ && !in_memory(applied_ + 1)) return;
    apply_scheduled_ = true;
    owner_.post(guarded([this] {
      apply_scheduled_ = false;
      apply_slice();
    }));
  }

  void apply_slice() {
    const raft::index before = applied_;
    std::size_t bytes_applied = 0;
    std::size_t entries_applied = 0;
    while (!stopped_ && applied_ < commit_ && entries_applied < options_.slice_entries &&
           bytes_applied < options_.slice_bytes) {
      if (!machine_.can_apply()) {
        blocked_ = true;
        break;
      }
      const raft::index next = applied_ + 1;
      if (!in_memory(next)) break;
      // A copy, for the machine may propose, and the tail moves under it. What was appended since the start is newer.
      const raft::entry entry = tail_.holds(next) ? tail_.at(next) : from_wal_.at(next);
      machine_.apply(entry);
      applied_ = next;
      tail_.drop_through(next);
      from_wal_.drop_through(next);
      bytes_applied += entry.payload.size();
      ++entries_applied;
    }
    if (stopped_) return;
    read_ahead();
    if (applied_ > before) {
      node_.applied(applied_);
      machine_.applied(applied_);
    }
    pump();
  }

  bool in_memory(raft::index index) const { return tail_.holds(index) || from_wal_.holds(index); }

  // What is committed and was there before this start is read while the chunk before it is applied: the disk and this
  // executor work at the same time, and two chunks are in memory at most.
  void read_ahead() {
    if (reading_ || from_wal_.size_bytes() >= options_.read_chunk_bytes) return;
    const raft::index next = (from_wal_.empty() ? applied_ : from_wal_.last()) + 1;
    if (next > commit_ || tail_.holds(next)) return;
    BRAID_CHECK(next >= first_in_wal_ && next <= last_in_wal_at_start_, "entry {} is neither in memory nor in the WAL",
                next);
    reading_ = true;
    wal_.read(options_.id, next, options_.read_chunk_bytes,
              guarded([this, next](result<std::vector<raft::entry>> entries) {
                reading_ = false;
                on_read(next, std::move(entries));
              }));
  }

  void on_read(raft::index next, result<std::vector<raft::entry>> entries) {
    if (!entries) {
      fatal(with_context(std::move(entries).error(), fmt::format("Raft group {}: entry {}", options_.id, next)));
      return;
    }
    BRAID_CHECK(!entries->empty() && entries->front().index == next, "the WAL gave another entry than {}", next);
    from_wal_.append(std::move(*entries));
    from_wal_.drop_through(applied_);
    read_ahead();
    schedule_apply();
  }

  void fatal(error why) {
    stop();
    if (on_fatal_) std::exchange(on_fatal_, nullptr)(std::move(why));
  }

  const group_options options_;
  raft::node node_;
  const raft::index first_in_wal_;
  const raft::index last_in_wal_at_start_;
  wal::log& wal_;
  state_machine& machine_;
  io::executor& owner_;
  io::timer_service& timers_;
  unique_function<void(error)> on_fatal_;

  std::shared_ptr<int> alive_ = std::make_shared<int>();
  bool started_ = false;
  bool stopped_ = false;
  io::timer_id tick_;

  raft::index commit_;
  raft::index applied_;
  entry_tail tail_;      // appended since the start, not yet applied
  entry_tail from_wal_;  // chunks of what was there before
  bool apply_scheduled_ = false;
  bool reading_ = false;
  bool blocked_ = false;  // by the state machine, until resume()
};

}  // namespace

result<std::unique_ptr<group>> group::create(group_options options, wal::log& wal, state_machine& machine,
                                             io::executor& owner, io::timer_service& timers,
                                             unique_function<void(error)> on_fatal) {
  BRAID_CHECK(options.slice_entries > 0 && options.slice_bytes > 0 && options.tick_interval > io::duration(0));
  if (options.raft.voters.size() > 1) {
    return fail(raft::errc::unsupported_membership,
                fmt::format("Raft group {} names {} voters; its messages are not carried yet", options.id,
                            options.raft.voters.size()));
  }
  raft::restored restored;
  restored.applied = options.applied;
  raft::index first;
  for (const wal::recovered_group& known : wal.recovered()) {
    if (known.group != options.id) continue;
    restored.state = known.state;
    restored.last_index = known.last_index;
    restored.last_term = known.last_term;
    first = known.first_index;
  }
  const bool lacks_entries =
      restored.last_index > options.applied && (first == raft::index(0) || first > options.applied + 1);
  if (lacks_entries) {
    return fail(wal::errc::not_retained,
                fmt::format("Raft group {}: the state machine stands at {}, the WAL has entries {} to {} only",
                            options.id, options.applied, first, restored.last_index));
  }
  auto node = raft::node::create(options.raft, restored);
  if (!node) {
    return tl::unexpected<error>(with_context(std::move(node).error(), fmt::format("Raft group {}", options.id)));
  }
  return std::unique_ptr<group>(std::make_unique<group_impl>(std::move(options), std::move(*node), first, wal, machine,
                                                             owner, timers, std::move(on_fatal)));
}

}  // namespace braidmq::multiraft

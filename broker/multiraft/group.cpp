#include "multiraft/group.hpp"

#include <map>
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
    for (auto& [context, done] : std::exchange(reads_, {})) answer(std::move(done), fail(errc::stopped));
  }

  result<raft::index> propose(bytes command) override {
    if (stopped_) return fail(errc::stopped);
    if (node_.current_role() != raft::role::leader) return fail(errc::not_leader);
    if (unapplied_bytes() > 0 && (unapplied_bytes() > options_.max_unapplied_bytes ||
                                  command.size() > options_.max_unapplied_bytes - unapplied_bytes())) {
      return fail(errc::busy, fmt::format("{} bytes are unapplied", unapplied_bytes()));
    }
    auto index = node_.propose(std::move(command));
    if (!index) {
      BRAID_CHECK(index.error().code == raft::errc::transferring, "a leader refuses: {}", index.error().to_string());
      return fail(errc::transferring);
    }
    pump();
    return index;
  }

  void step(raft::message message) override {
    if (stopped_) return;
    node_.step(std::move(message));
    schedule_pump();
  }

  void read_index(unique_function<void(result<raft::index>)> done) override {
    if (stopped_) return answer(std::move(done), fail(errc::stopped));
    if (reads_.size() >= options_.max_reads) return answer(std::move(done), fail(errc::busy));
    const std::uint64_t context = ++last_read_;
    const status asked = node_.read_index(context);
    if (!asked) {
      const bool is_busy = asked.error().code == raft::errc::too_many_reads;
      return answer(std::move(done), fail(is_busy ? errc::busy : errc::not_leader, asked.error().to_string()));
    }
    reads_.emplace(context, std::move(done));
    schedule_pump();
  }

  status transfer(const raft::node_id& to) override {
    if (stopped_) return fail(errc::stopped);
    const status begun = node_.transfer(to);
    schedule_pump();
    return begun;
  }

  void set_campaigns(bool campaigns) override {
    if (!stopped_) node_.set_campaigns(campaigns);
  }

  void compacted(raft::index through) override {
    if (!stopped_) node_.compacted(through);
  }

  void resume() override {
    if (!blocked_) return;
    blocked_ = false;
    schedule_apply();
  }

  std::optional<raft::index> held_by_all() const override {
    if (node_.current_role() != raft::role::leader) return std::nullopt;
    raft::index least = node_.persisted_index();
    for (const raft::progress& peer : node_.peers()) least = std::min(least, peer.match());
    return least;
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
      // Beside the write: what must wait for it, the node holds back itself.
      for (raft::message& one : ready.messages) options_.peers->send(options_.id, std::move(one));
      if (raft::needs_persisting(ready)) {
        wal::append_item item{options_.id, ready.state, ready.entries};
        tail_.append(std::move(ready.entries));
        wal_.append(std::move(item), guarded([this, last = node_.last_index(), term = node_.last_term()](
                                                 status written) { on_persisted(std::move(written), last, term); }));
      }
      BRAID_CHECK(ready.commit >= commit_, "commit falls from {} to {}", commit_, ready.commit);
      commit_ = ready.commit;
      for (const raft::entries_request& one : ready.entries_wanted) supply(one);
      for (const raft::node_id& peer : ready.snapshots_wanted) want_snapshot(peer);
      for (const raft::read_answer& one : ready.reads) answer_read(one);
    }
    note_office();
    schedule_apply();
  }

  // Messages that came together are worked off together: many appends of a leader become one write.
  void schedule_pump() {
    if (stopped_ || std::exchange(pump_scheduled_, true)) return;
    owner_.post(guarded([this] {
      pump_scheduled_ = false;
      pump();
    }));
  }

  void answer(unique_function<void(result<raft::index>)> done, result<raft::index> value) {
    owner_.post([done = std::move(done), value = std::move(value)]() mutable { done(std::move(value)); });
  }

  void answer_read(const raft::read_answer& one) {
    auto waiting = reads_.extract(one.context);
    BRAID_CHECK(!waiting.empty(), "the answer to read {}, which nobody asked", one.context);
    if (one.index)
      answer(std::move(waiting.mapped()), *one.index);
    else
      answer(std::move(waiting.mapped()), fail(errc::lost));
  }

  void note_office() {
    const office now{node_.current_role(), node_.leader(), node_.current_term()};
    if (stopped_ || std::exchange(office_, now) == now) return;
    owner_.post(guarded([this] { machine_.office_changed(); }));
  }

  // Entries that a peer lacks, from the log.
  void supply(const raft::entries_request& wanted) {
    wal_.read(options_.id, wanted.from, wanted.max_bytes,
              guarded([this, wanted](result<std::vector<raft::entry>> entries) {
                if (entries) {
                  std::erase_if(*entries, [&](const raft::entry& one) { return one.index >= wanted.to; });
                  node_.supply(wanted.request, std::move(*entries));
                } else if (entries.error().code == wal::errc::not_retained) {
                  node_.unavailable(wanted.request);
                } else {
                  return fatal(with_context(std::move(entries).error(),
                                            fmt::format("Raft group {}: entry {}", options_.id, wanted.from)));
                }
                pump();
              }));
  }

  void want_snapshot(const raft::node_id& peer) {
    machine_.snapshot_wanted(peer);
    // Nobody carries one yet: it has failed, and is wanted again after a while.
    timers_.schedule(options_.snapshot_retry, guarded([this, peer] {
                       node_.snapshot_done(peer, std::nullopt);
                       pump();
                     }));
  }

  // A leader that is behind with applying takes no proposals. Others have to take what the leader sends, and do not
  // hold in memory what the WAL can give again.
  void trim_tail() {
    if (node_.current_role() == raft::role::leader) return;
    while (tail_.size_bytes() > options_.max_unapplied_bytes && tail_.first() <= node_.persisted_index()) {
      tail_.drop_through(tail_.first());
    }
  }

  void on_persisted(status written, raft::index last, raft::term last_term) {
    if (!written) {
      fatal(with_context(std::move(written).error(), fmt::format("Raft group {}: write to the WAL", options_.id)));
      return;
    }
    node_.persisted(last, last_term);
    trim_tail();
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
    BRAID_CHECK(next >= first_in_wal_ && (next <= last_in_wal_at_start_ || next <= node_.persisted_index()),
                "entry {} is neither in memory nor in the WAL", next);
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
    // What is not committed may be replaced while it waits here.
    std::erase_if(*entries, [this](const raft::entry& one) { return one.index > commit_; });
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
  struct office {
    raft::role role = raft::role::follower;
    raft::node_id leader;
    raft::term term;

    friend bool operator==(const office&, const office&) = default;
  };
  office office_;
  bool pump_scheduled_ = false;
  std::uint64_t last_read_ = 0;
  std::map<std::uint64_t, unique_function<void(result<raft::index>)>> reads_;
  bool apply_scheduled_ = false;
  bool reading_ = false;
  bool blocked_ = false;  // by the state machine, until resume()
};

}  // namespace

result<std::unique_ptr<group>> group::create(group_options options, wal::log& wal, state_machine& machine,
                                             io::executor& owner, io::timer_service& timers,
                                             unique_function<void(error)> on_fatal) {
  BRAID_CHECK(options.slice_entries > 0 && options.slice_bytes > 0 && options.tick_interval > io::duration(0));
  if (options.raft.voters.size() > 1 && options.peers == nullptr) {
    return fail(raft::errc::unsupported_membership,
                fmt::format("Raft group {} names {} voters, and nothing carries its messages", options.id,
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
    restored.terms = known.terms;
    first = known.first_index;
  }
  // Where the log begins behind the checkpoint, the checkpoint's own entry comes first.
  const bool begins_behind = restored.terms.empty() || restored.terms.front().first > options.applied;
  if (options.applied > raft::index(0) && begins_behind && options.applied_term > raft::term(0)) {
    const bool goes_on = !restored.terms.empty() && restored.terms.front().term == options.applied_term;
    if (goes_on)
      restored.terms.front().first = options.applied;
    else
      restored.terms.insert(restored.terms.begin(), {options.applied, options.applied_term});
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

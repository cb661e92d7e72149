#include "multiraft/checkpointer.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace braidmq::multiraft {
namespace {

// After each sync the next one in its place waits as long as that sync was, but no longer than this: so much of the
// disk is left to the write-ahead log.
constexpr io::duration longest_pause = std::chrono::milliseconds(20);

// How soon one is tried again that found no space.
constexpr io::duration longest_retry = std::chrono::seconds(5);

}  // namespace

// What the tasks of one checkpoint share. The state is destroyed by the owner, as its pages ask for (base/paged_map):
// tasks give their reference back with the callback.
struct checkpointer::job {
  checkpoint_id id;
  std::unique_ptr<pinned_state> state;
  std::vector<unique_function<status()>> syncs;
  std::size_t next_sync = 0;
  std::size_t syncs_done = 0;
  bool synced = false;  // what fails from here on may be done again
  io::time_point begun;
  std::uint64_t bytes_before = 0;  // applied and covered by it
};

template <class F>
auto checkpointer::guarded(F callback) {
  return [alive = std::weak_ptr<int>(alive_), callback = std::move(callback)](auto&&... arguments) mutable {
    if (!alive.expired()) callback(std::forward<decltype(arguments)>(arguments)...);
  };
}

checkpointer::checkpointer(checkpoint_options options, checkpoint_environment environment, checkpoint_source& source,
                           unique_function<void(error)> on_fatal)
    : options_(std::move(options)), environment_(environment), source_(source), on_fatal_(std::move(on_fatal)) {
  BRAID_CHECK(options_.due_bytes > 0 && options_.due_after > io::duration::zero() && options_.syncs_at_once > 0);
}

checkpointer::~checkpointer() {
  stop();
}

void checkpointer::start(raft::index loaded) {
  stats_.last_index = applied_ = loaded;
  due_at_ = environment_.clock.now() + options_.due_after;
  arm();
}

void checkpointer::stop() {
  alive_.reset();
  environment_.timers.cancel(timer_);
  running_.reset();
}

void checkpointer::arm() {
  environment_.timers.cancel(timer_);
  const io::duration left = due_at_ - environment_.clock.now();
  timer_ = environment_.timers.schedule(std::max(left, io::duration::zero()), guarded([this] { begin_if_due(); }));
}

void checkpointer::applied(raft::index index, std::size_t size_bytes, raft::term term) {
  applied_ = index;
  term_ = term;
  stats_.bytes_since += size_bytes;
  begin_if_due();
}

void checkpointer::request() {
  requested_ = true;
  begin_if_due();
}

void checkpointer::begin_if_due() {
  if (alive_ == nullptr || running_) return;
  const bool has_news = applied_ > stats_.last_index && environment_.clock.now() >= not_before_;
  const bool is_time = environment_.clock.now() >= due_at_;
  if (has_news && (requested_ || is_time || stats_.bytes_since >= options_.due_bytes)) return begin();
  if (!is_time) return;
  // An idle group needs none.
  due_at_ = environment_.clock.now() + options_.due_after;
  requested_ = false;
  arm();
}

void checkpointer::begin() {
  requested_ = false;
  running_ = std::make_shared<job>();
  running_->begun = environment_.clock.now();
  due_at_ = running_->begun + options_.due_after;
  arm();
  running_->bytes_before = stats_.bytes_since;
  running_->state = source_.pin();
  running_->id = {options_.group, running_->state->index(), term_};
  BRAID_CHECK(running_->id.index == applied_, "pinned {}, applied {}", running_->id.index, applied_);
  // The state keeps this callback: it must not keep the state.
  running_->state->when_written(guarded([this](status written) {
    const auto work = running_;
    if (!written) return failed(work, std::move(written).error());
    work->syncs = work->state->take_syncs();
    if (work->syncs.empty()) return write_file(work);
    // Each of these goes on by itself.
    for (unsigned i = 0; i < options_.syncs_at_once; ++i) sync_next(work);
  }));
}

void checkpointer::sync_next(const std::shared_ptr<job>& work) {
  if (running_ != work || work->next_sync == work->syncs.size()) return;
  environment_.background.post(
      [this, work, at = work->next_sync++, environment = environment_, alive = std::weak_ptr<int>(alive_)]() mutable {
        const io::time_point before = environment.clock.now();
        status synced = work->syncs[at]();
        const io::duration took = environment.clock.now() - before;
        environment.owner.post(
            [this, work = std::move(work), alive = std::move(alive), synced = std::move(synced), took]() mutable {
              if (!alive.expired()) on_synced(work, std::move(synced), took);
            });
      });
}

void checkpointer::on_synced(const std::shared_ptr<job>& work, status synced, io::duration took) {
  if (running_ != work) return;  // another one has failed
  if (!synced) return failed(work, std::move(synced).error());
  if (++work->syncs_done == work->syncs.size()) return write_file(work);
  // Behind by a whole checkpoint: no more pauses.
  const bool hurry = stats_.bytes_since - work->bytes_before >= options_.due_bytes;
  if (hurry || took == io::duration::zero()) return sync_next(work);
  environment_.timers.schedule(std::min(took, longest_pause), guarded([this, work] { sync_next(work); }));
}

void checkpointer::write_file(const std::shared_ptr<job>& work) {
  work->synced = true;
  environment_.background.post(
      [this, work, environment = environment_, path = options_.path, alive = std::weak_ptr<int>(alive_)]() mutable {
        const auto store = [&]() -> result<std::uint64_t> {
          BRAID_TRY(writer, checkpoint_writer::begin(environment.fs, path, work->id));
          BRAID_TRY_VOID(work->state->write(writer));
          return writer.commit();
        };
        auto written = store();
        if (!written) checkpoint_writer::discard(environment.fs, path);
        environment.owner.post(
            [this, work = std::move(work), alive = std::move(alive), written = std::move(written)]() mutable {
              if (!alive.expired()) finish(work, std::move(written));
            });
      });
}

void checkpointer::finish(const std::shared_ptr<job>& work, result<std::uint64_t> written) {
  if (!written) return failed(work, std::move(written).error());
  const io::time_point now = environment_.clock.now();
  ++stats_.taken;
  stats_.last_index = work->id.index;
  stats_.last_bytes = *written;
  stats_.last_took = now - work->begun;
  stats_.last_at = now;
  stats_.bytes_since -= work->bytes_before;
  running_.reset();
  work->state.reset();
  const std::weak_ptr<int> alive = alive_;
  source_.checkpointed(stats_.last_index);
  if (!alive.expired()) begin_if_due();
}

void checkpointer::failed(const std::shared_ptr<job>& work, error why) {
  running_.reset();
  const bool only_space = why.code == io::errc::no_space && work->synced;
  if (only_space) {
    // What was synced stays so.
    ++stats_.failed;
    not_before_ = due_at_ = environment_.clock.now() + std::min(options_.due_after, longest_retry);
    return arm();
  }
  const std::weak_ptr<int> alive = alive_;
  if (on_fatal_) std::exchange(on_fatal_, nullptr)(with_context(std::move(why), "checkpoint " + options_.path));
  if (!alive.expired()) stop();
}

}  // namespace braidmq::multiraft

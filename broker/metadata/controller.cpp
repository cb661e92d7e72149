#include "metadata/controller.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "metadata/checkpoint.hpp"
#include "model/topic_name.hpp"

namespace braidmq::metadata {

result<std::unique_ptr<controller>> controller::create(controller_options options,
                                                       const controller_environment& environment,
                                                       unique_function<void(error)> on_fatal) {
  options.checkpoint.group = options.group.id;
  BRAID_TRY(loaded, read_checkpoint(environment.fs, options.checkpoint.path, options.group.id));
  if (loaded.image) {
    options.group.applied = raft::index(loaded.image->index());
    options.group.applied_term = loaded.term;
  }
  std::unique_ptr<controller> made(new controller(std::move(options), environment, loaded.image, std::move(on_fatal)));
  auto group =
      multiraft::group::create(made->options_.group, environment.wal, *made, environment.owner, environment.timers,
                               [self = made.get()](error why) { self->on_fatal_(std::move(why)); });
  if (!group) return tl::unexpected(std::move(group).error());
  made->group_ = std::move(*group);
  return made;
}

controller::controller(controller_options options, const controller_environment& environment, image_ptr loaded,
                       unique_function<void(error)> on_fatal)
    : options_(std::move(options)),
      owner_(environment.owner),
      timers_(environment.timers),
      random_(environment.random),
      on_fatal_(std::move(on_fatal)),
      wal_(environment.wal),
      machine_(std::move(loaded)),
      checkpointer_(options_.checkpoint,
                    {environment.fs, environment.background, environment.owner, environment.timers, environment.clock},
                    *this, [this](error why) { on_fatal_(std::move(why)); }),
      retention_(options_.group.raft.voters.size(), options_.retain_bytes),
      image_(machine_.current()) {}

controller::~controller() {
  for (const waiter& one : waiters_) timers_.cancel(one.timer);
  for (const watcher& one : watchers_) timers_.cancel(one.timer);
  for (const auto& [id, one] : changes_) timers_.cancel(one.timer);
  if (retry_timer_) timers_.cancel(*retry_timer_);
  timers_.cancel(hand_over_timer_);
  timers_.cancel(hand_over_retry_);
}

void controller::start() {
  const raft::index loaded(machine_.current()->index());
  checkpointer_.start(loaded);
  // A kill may have come between the checkpoint and this.
  if (loaded > raft::index(0)) checkpointed(loaded);
  group_->start();
}

void controller::stop() {
  if (std::exchange(stopped_, true)) return;
  group_->stop();
  checkpointer_.stop();
  tell_waiters(fail(errc::stopped));
  for (watcher& one : std::exchange(watchers_, {})) {
    timers_.cancel(one.timer);
    one.done(fail(errc::stopped));
  }
  while (!changes_.empty()) finish(changes_.begin()->first, fail(errc::stopped));
  if (on_handed_over_) std::exchange(on_handed_over_, nullptr)(fail(errc::stopped));
}

void controller::subscribe(unique_function<void(image_ptr)> on_image) {
  subscribers_.push_back(std::move(on_image));
  subscribers_.back()(machine_.current());
}

image_ptr controller::current() const {
  const std::lock_guard guard(image_mutex_);
  return image_;
}

multiraft::office controller::office() const {
  const std::lock_guard guard(image_mutex_);
  return office_;
}

void controller::note_office() {
  const raft::node& node = group_->node();
  const std::lock_guard guard(image_mutex_);
  office_ = {node.current_term(), node.leader(), node.serves() && !stopped_};
}

void controller::when_current(io::duration timeout, unique_function<void(status)> done) {
  owner_.post([this, alive = std::weak_ptr(alive_), timeout, done = std::move(done)]() mutable {
    if (alive.expired()) return;
    if (stopped_) return done(fail(errc::stopped));
    if (is_current()) return done({});
    const std::uint64_t id = ++last_change_;
    const io::timer_id timer = timers_.schedule(timeout, [this, id] {
      const auto found = std::ranges::find(waiters_, id, &waiter::id);
      if (found == waiters_.end()) return;
      auto late = std::move(found->done);
      waiters_.erase(found);
      late(fail(errc::timed_out, "the metadata log is still being read"));
    });
    waiters_.push_back({id, timer, std::move(done)});
  });
}

void controller::tell_waiters(const status& outcome) {
  for (waiter& one : std::exchange(waiters_, {})) {
    timers_.cancel(one.timer);
    one.done(outcome);
  }
}

void controller::when_image(unique_function<bool(const image&)> holds, io::duration timeout,
                            unique_function<void(status)> done) {
  owner_.post(
      [this, alive = std::weak_ptr(alive_), holds = std::move(holds), timeout, done = std::move(done)]() mutable {
        if (alive.expired()) return;
        if (stopped_) return done(fail(errc::stopped));
        if (holds(*machine_.current())) return done({});
        const std::uint64_t id = ++last_change_;
        const io::timer_id timer = timers_.schedule(timeout, [this, id] {
          const auto found = std::ranges::find(watchers_, id, &watcher::id);
          if (found == watchers_.end()) return;
          auto late = std::move(found->done);
          watchers_.erase(found);
          late(fail(errc::timed_out));
        });
        watchers_.push_back({id, timer, std::move(holds), std::move(done)});
      });
}

void controller::tell_watchers() {
  std::vector<watcher> content;
  std::erase_if(watchers_, [&](watcher& one) {
    const bool is_so = one.holds(*machine_.current());
    if (is_so) content.push_back(std::move(one));
    return is_so;
  });
  for (watcher& one : content) {
    timers_.cancel(one.timer);
    one.done({});
  }
}

bool controller::is_ready() const {
  if (!is_current()) return false;
  const image_ptr now = current();
  const auto claimed = now->brokers().find(options_.broker);
  return !now->cluster_id().is_zero() && claimed != now->brokers().end() &&
         claimed->second.incarnation == options_.incarnation;
}

status controller::check_total(std::int32_t added, const image& against) const {
  std::int64_t sum = added;
  for (const auto& [name, topic] : against.topics()) sum += topic->partitions;
  if (sum <= options_.max_partitions) return {};
  return fail(errc::invalid_partitions,
              fmt::format("{} partitions in all; {} fit into the memory of the broker: give it more, or delete topics",
                          sum, options_.max_partitions));
}

status controller::check_topic(const new_topic& topic, const image& against) const {
  if (auto name = model::check_topic_name(topic.name); !name) {
    return fail(errc::invalid_topic_name, name.error().message);
  }
  if (const topic_image* other = against.find(topic.name)) {
    return fail(errc::topic_exists, fmt::format("topic '{}' exists with id {}", topic.name, other->id));
  }
  if (const topic_image* other = against.find_collision(topic.name)) {
    return fail(errc::name_collision,
                fmt::format("topic '{}' differs from '{}' only in '.' and '_'", topic.name, other->name));
  }
  if (topic.partitions != -1 && (topic.partitions < 1 || topic.partitions > options_.max_partitions_per_topic)) {
    return fail(errc::invalid_partitions,
                fmt::format("{} partitions; 1 to {} can be had", topic.partitions, options_.max_partitions_per_topic));
  }
  const std::int32_t partitions = topic.partitions == -1 ? options_.default_partitions : topic.partitions;
  BRAID_TRY_VOID(check_total(partitions, against));
  if (topic.replication_factor != -1 &&
      (topic.replication_factor < 1 || topic.replication_factor > options_.replication_factor)) {
    return fail(errc::invalid_replication_factor,
                fmt::format("replication factor {}; partitions are replicated as their braid is: use -1, or 1 to {}",
                            topic.replication_factor, options_.replication_factor));
  }
  return {};
}

void controller::create_topic(new_topic topic, io::duration timeout,
                              unique_function<void(result<std::shared_ptr<const topic_image>>)> done) {
  owner_.post(
      [this, alive = std::weak_ptr(alive_), topic = std::move(topic), timeout, done = std::move(done)]() mutable {
        if (alive.expired()) return;
        if (const auto checked = check_topic(topic, *machine_.current()); !checked) {
          done(tl::unexpected(checked.error()));
          return;
        }
        metadata::create_topic command{topic.name, random_.next_uuid(),
                                       topic.partitions == -1 ? options_.default_partitions : topic.partitions,
                                       std::move(topic.configs)};
        const model::topic_id id = command.id;
        propose(std::move(command), timeout, [id, done = std::move(done)](result<outcome> applied) mutable {
          if (!applied) return done(tl::unexpected(applied.error()));
          // Proposed twice, it meets itself.
          const bool is_ours = applied->topic != nullptr && applied->topic->id == id;
          if (applied->error && !is_ours) return done(fail(applied->error));
          done(applied->topic);
        });
      });
}

result<std::shared_ptr<const topic_image>> controller::find_topic(const std::string& name,
                                                                  const std::optional<model::topic_id>& id,
                                                                  const image& in) {
  const auto found = in.topics().find(name);
  if (found == in.topics().end()) return fail(errc::unknown_topic, fmt::format("topic '{}'", name));
  if (id && found->second->id != *id) {
    return fail(errc::unknown_topic_id,
                fmt::format("topic '{}' has id {}, not {}: it was made anew since", name, found->second->id, *id));
  }
  return found->second;
}

result<topic_image> controller::check_change(const topic_change& change, const image& against) const {
  BRAID_TRY(topic, find_topic(change.name, change.id, against));
  const std::int32_t partitions = change.partitions.value_or(topic->partitions);
  if (partitions < 1 || (partitions > topic->partitions && partitions > options_.max_partitions_per_topic)) {
    return fail(errc::invalid_partitions,
                fmt::format("{} partitions; 1 to {} can be had", partitions, options_.max_partitions_per_topic));
  }
  if (partitions > topic->partitions) BRAID_TRY_VOID(check_total(partitions - topic->partitions, against));
  return altered(*topic, {topic->id, partitions, change.configs}, against.index() + 1);
}

void controller::alter_topic(topic_change change, io::duration timeout,
                             unique_function<void(result<std::shared_ptr<const topic_image>>)> done) {
  owner_.post(
      [this, alive = std::weak_ptr(alive_), change = std::move(change), timeout, done = std::move(done)]() mutable {
        if (alive.expired()) return;
        const image_ptr now = machine_.current();
        const auto after = check_change(change, *now);
        if (!after) return done(tl::unexpected(after.error()));
        const auto before = *find_topic(change.name, change.id, *now);
        if (after->changed_index == before->changed_index) return done(before);
        propose(metadata::alter_topic{before->id, change.partitions.value_or(0), std::move(change.configs)}, timeout,
                [done = std::move(done)](result<outcome> applied) mutable {
                  if (!applied) return done(tl::unexpected(applied.error()));
                  if (applied->error) return done(fail(applied->error));
                  done(applied->topic);
                });
      });
}

void controller::delete_topic(const model::topic_id& id, io::duration timeout,
                              unique_function<void(result<deleted_topic>)> done) {
  owner_.post([this, alive = std::weak_ptr(alive_), id, timeout, done = std::move(done)]() mutable {
    if (alive.expired()) return;
    if (machine_.current()->find(id) == nullptr) return done(fail(errc::unknown_topic_id, fmt::format("{}", id)));
    propose(metadata::delete_topic{id}, timeout, [this, done = std::move(done)](result<outcome> applied) mutable {
      if (!applied) return done(tl::unexpected(applied.error()));
      if (applied->error) return done(fail(applied->error));
      done(deleted_topic{applied->topic, machine_.current()->index()});
    });
  });
}

void controller::allocate_producer_ids(io::duration timeout, unique_function<void(result<producer_id_block>)> done) {
  owner_.post([this, alive = std::weak_ptr(alive_), timeout, done = std::move(done)]() mutable {
    if (alive.expired()) return;
    propose(metadata::allocate_producer_ids{options_.broker}, timeout,
            [done = std::move(done)](result<outcome> applied) mutable {
              if (!applied) return done(tl::unexpected(applied.error()));
              done(applied->producer_ids);
            });
  });
}

void controller::apply(const raft::entry& entry) {
  const outcome done = machine_.apply(entry);
  unpublished_entry_bytes_ += entry.payload.size();
  applied_term_ = entry.term;
  publish();
  note_outcome(entry, done);
}

void controller::applied(raft::index index) {
  note_office();
  if (group_->node().serves() || (current_at_ && index >= *current_at_)) become_current();
  settle_identity();
  checkpointer_.applied(index, std::exchange(unpublished_entry_bytes_, 0), applied_term_);
}

std::unique_ptr<multiraft::pinned_state> controller::pin() {
  return pin_for_checkpoint(machine_.current());
}

void controller::checkpointed(raft::index index) {
  retention_.checkpointed(index, wal_.statistics().bytes_written);
  let_go_of_log();
}

void controller::let_go_of_log() {
  const raft::index last = retention_.dispensable(wal_.statistics().bytes_written, group_->held_by_all());
  if (last == raft::index(0)) return;
  group_->compacted(last);
  wal_.release(options_.group.id, last + 1);
}

void controller::forget_deletions(std::uint64_t through) {
  const auto& deletions = machine_.current()->deletions();
  const bool is_news = std::ranges::any_of(
      deletions, [&](const auto& one) { return one.second > forgetting_ && one.second <= through; });
  if (!is_news || stopped_) return;
  constexpr io::duration patience = std::chrono::seconds(30);
  forgetting_ = through;
  // Whoever fails to say it says it again after the next deletion.
  propose(metadata::forget_deletions{through}, patience, [this, through](const result<outcome>& applied) {
    if (!applied && forgetting_ == through) forgetting_ = 0;
  });
}

void controller::publish() {
  {
    const std::lock_guard guard(image_mutex_);
    image_ = machine_.current();
  }
  for (auto& subscriber : subscribers_) subscriber(machine_.current());
  tell_watchers();
}

}  // namespace braidmq::metadata

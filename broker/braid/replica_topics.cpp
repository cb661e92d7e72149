// The replica's part that follows the metadata log: what topics there are to be, and the end of those that are deleted.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "braid/replica.hpp"

namespace braidmq::braid {

void replica::follow(topic_news news) {
  BRAID_CHECK(news.metadata_index >= followed_index_, "metadata index falls from {} to {}", followed_index_,
              news.metadata_index);
  followed_index_ = news.metadata_index;
  for (wanted_topic& topic : news.topics) {
    const model::topic_id id = topic.id;
    wishes_.insert_or_assign(id, std::move(topic));
  }
  for (const topic_deletion& deletion : news.deletions) {
    wishes_.insert_or_assign(deletion.topic, deletion);
    end_waiters(deletion);
    tell_deletions_ = true;
  }
  for (const model::topic_id& id : news.forgotten) {
    const auto found = wishes_.find(id);
    if (found != wishes_.end() && std::holds_alternative<topic_deletion>(found->second)) wishes_.erase(found);
  }
  propose_missing();
  answer_waiters();
}

// What has to be proposed so that the braid is as wished; none when it is. Only a leader that has applied its own first
// entry may ask: nothing that it does not know of is on its way then.
std::optional<topic_change> replica::change_for(const wish& wanted) {
  if (const auto* deletion = std::get_if<topic_deletion>(&wanted)) {
    if (machine_.find_topic(deletion->topic) == nullptr) return std::nullopt;
    return topic_change{deletion->topic, {}, std::nullopt, *deletion};
  }
  const auto& topic = std::get<wanted_topic>(wanted);
  topic_change change{topic.id, {}, std::nullopt, std::nullopt};
  for (std::int32_t p = 0; p < topic.partitions; ++p) {
    const model::topic_partition_id target{topic.id, model::partition_index(p)};
    if (machine_.find(target) == nullptr) change.creations.push_back({target, 0, followed_index_});
  }
  const topic_state* known = machine_.find_topic(topic.id);
  if (known == nullptr || known->config_index < topic.changed_index) {
    change.config = topic_config{topic.id, topic.changed_index, topic.configs};
  }
  if (change.creations.empty() && !change.config) return std::nullopt;
  return change;
}

void replica::propose_missing() {
  if (!stopped_ && !group_->node().serves()) drop_fulfilled();
  if (wishes_.empty() || stopped_ || !group_->node().serves()) return tell_deletions();
  // An earlier leader knew more of the metadata log: what we miss may have been deleted.
  if (followed_index_ < machine_.last_deletion_index()) return;
  for (auto it = wishes_.begin(); it != wishes_.end();) {
    if (changing_.contains(it->first)) {
      ++it;
      continue;
    }
    auto change = change_for(it->second);
    if (!change) {
      it = wishes_.erase(it);
      continue;
    }
    changing_.insert(it->first);
    aggregator_.add(std::move(*change));
    ++it;
  }
  schedule_pump();
  tell_deletions();
}

// Of one that does not lead. A deletion stays: the topic may yet come by an entry before it, and whoever leads then has
// to know.
void replica::drop_fulfilled() {
  std::erase_if(wishes_, [this](const auto& one) {
    return std::holds_alternative<wanted_topic>(one.second) && !change_for(one.second);
  });
}

void replica::tell_deletions() {
  if (!tell_deletions_ || stopped_ || !group_->node().serves()) return;
  const auto is_deletion = [](const auto& one) { return std::holds_alternative<topic_deletion>(one.second); };
  if (std::ranges::any_of(wishes_, is_deletion)) return;
  tell_deletions_ = false;
  if (on_deletions_applied_) on_deletions_applied_(followed_index_);
}

void replica::when_applied(const model::topic_id& topic, std::uint64_t metadata_index, io::duration timeout,
                           unique_function<void(status)> done) {
  if (stopped_) {
    done(fail(errc::stopped));
    return;
  }
  const std::uint64_t id = ++last_topic_waiter_;
  const io::timer_id timer = environment_.timers.schedule(timeout, [this, id] {
    const auto found = std::ranges::find(topic_waiters_, id, &topic_waiter::id);
    if (found == topic_waiters_.end()) return;
    topic_waiter waiter = std::move(*found);
    topic_waiters_.erase(found);
    waiter.done(fail(errc::timed_out));
  });
  topic_waiters_.push_back({id, topic, metadata_index, timer, std::move(done)});
  answer_waiters();
}

void replica::answer_waiters() {
  std::vector<topic_waiter> finished;
  std::erase_if(topic_waiters_, [&](topic_waiter& waiter) {
    const auto wanted = wishes_.find(waiter.topic);
    const bool is_as_wished =
        wanted == wishes_.end() || (!group_->node().serves() && !change_for(wanted->second).has_value());
    const bool is_so = waiter.metadata_index <= followed_index_ && is_as_wished;
    if (is_so) finished.push_back(std::move(waiter));
    return is_so;
  });
  for (topic_waiter& waiter : finished) {
    environment_.timers.cancel(waiter.timer);
    waiter.done({});
  }
}

// Whoever waits for something that a later entry has taken away.
void replica::end_waiters(const topic_deletion& deletion) {
  std::vector<topic_waiter> finished;
  std::erase_if(topic_waiters_, [&](topic_waiter& waiter) {
    const bool too_late = waiter.topic == deletion.topic && waiter.metadata_index < deletion.metadata_index;
    if (too_late) finished.push_back(std::move(waiter));
    return too_late;
  });
  for (topic_waiter& waiter : finished) {
    environment_.timers.cancel(waiter.timer);
    waiter.done(fail(errc::unknown_partition, "the topic has been deleted meanwhile"));
  }
}

// Ends a partition whose deletion was applied: fetches that wait hear of it now. Its files go when a checkpoint does
// not speak of them any more; what is on its way to them until then is written, for a checkpoint may wait for it.
void replica::retire(std::unique_ptr<partition::partition> deleted) {
  const model::topic_partition_id id = deleted->id();
  write_behind_bytes_ += deleted->publish();  // what no publish() has counted, and now none will
  // Nobody would tell it later, and apply would wait for its bytes.
  gathering_.erase(id);
  deleted->log().write_pending();
  retired_.insert_or_assign(id, retired_partition{machine_.applied_index(), std::move(deleted)});
  purgatory_.on_deleted(id);
}

void replica::remove_files(const model::topic_partition_id& id) {
  retired_partition& one = retired_.at(id);
  one.removing = true;
  const std::size_t pending = one.partition->log().pending_bytes();
  BRAID_CHECK(pending <= write_behind_bytes_, "{} pending of {}", pending, write_behind_bytes_);
  write_behind_bytes_ -= pending;
  one.partition->log().remove([this, alive = std::weak_ptr(alive_), id](const status& removed) {
    if (alive.expired()) return;
    if (!removed) ++stats_.removals_failed;
    environment_.owner.post([this, alive, id] {
      if (!alive.expired()) retired_.erase(id);
    });
  });
  if (can_apply()) group_->resume();
}

}  // namespace braidmq::braid

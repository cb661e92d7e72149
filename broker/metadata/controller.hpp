// The metadata quorum's member on this broker: takes changes, commits them in a Raft group of its own, publishes
// images.
//
// Threads: the object lives on the metadata executor; change requests may come from anywhere and their callbacks run on
// the metadata executor (callers hop back to their own). image() may be read from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/executor.hpp"
#include "io/random.hpp"
#include "io/timers.hpp"
#include "metadata/machine.hpp"
#include "multiraft/checkpointer.hpp"
#include "multiraft/group.hpp"
#include "multiraft/office.hpp"
#include "wal/log.hpp"

namespace braidmq::metadata {

// What must outlive the controller.
struct controller_environment {
  io::file_system& fs;
  io::executor& owner;
  io::executor& background;  // may block: checkpoints
  io::timer_service& timers;
  const io::clock& clock;
  io::random_source& random;
  wal::log& wal;
};

struct controller_options {
  multiraft::group_options group;
  multiraft::checkpoint_options checkpoint;  // the group's id is set by the controller
  model::broker_id broker;
  uuid incarnation;
  uuid cluster_id;                      // what a first start founds
  bool may_found = true;                // no: this broker belongs to a cluster that exists
  std::int32_t replication_factor = 1;  // of the braid: CreateTopics takes -1 or 1..this
  std::int32_t default_partitions = 1;
  std::int32_t max_partitions_per_topic = 10'000;
  std::int64_t max_partitions = 1'000'000;  // of all topics: each costs memory, also when nothing is written to it
};

struct new_topic {
  std::string name;
  std::int32_t partitions = -1;          // -1: the default
  std::int32_t replication_factor = -1;  // -1: the braid's
  std::map<std::string, std::string> configs;
};

struct topic_change {
  std::string name;
  std::optional<model::topic_id> id;                          // precondition: the name has this id
  std::optional<std::int32_t> partitions;                     // the new count; equal changes nothing
  std::map<std::string, std::optional<std::string>> configs;  // none: unset
};

class controller final : private multiraft::state_machine, private multiraft::checkpoint_source {
 public:
  // Blocking: loads the checkpoint.
  static result<std::unique_ptr<controller>> create(controller_options options,
                                                    const controller_environment& environment,
                                                    unique_function<void(error)> on_fatal);
  ~controller() override;

  // On the metadata executor.
  void start();
  void stop();
  // A message of another voter.
  void step(raft::message message) { group_->step(std::move(message)); }
  // Before start(): how clients reach this broker. `fixed` replaces what the log says; of the listeners in `pushed` the
  // log's addresses stay, for they are told at run time.
  void set_listeners(std::vector<advertised_listener> fixed, std::vector<std::string> pushed);
  // `on_image` runs on the metadata executor with the current image and after each change, in order.
  void subscribe(unique_function<void(image_ptr)> on_image);

  // From any thread.
  image_ptr current() const;
  // Who leads the metadata quorum, as this member knows it.
  multiraft::office office() const;
  void create_topic(new_topic topic, io::duration timeout,
                    unique_function<void(result<std::shared_ptr<const topic_image>>)> done);
  // Gives the topic as it is then; when that is what it was, nothing is written and changed_index stays.
  void alter_topic(topic_change change, io::duration timeout,
                   unique_function<void(result<std::shared_ptr<const topic_image>>)> done);
  // Gives the topic as it was, and the index of the entry that deleted it.
  struct deleted_topic {
    std::shared_ptr<const topic_image> topic;
    std::uint64_t index = 0;
  };
  void delete_topic(const model::topic_id& id, io::duration timeout, unique_function<void(result<deleted_topic>)> done);

  // The checks of create_topic against an image, without making it (validate_only).
  status check_total(std::int32_t added, const image& against) const;
  status check_topic(const new_topic& topic, const image& against) const;
  // The same of alter_topic: what the topic would be.
  result<topic_image> check_change(const topic_change& change, const image& against) const;
  // The topic of this name, if it has this id.
  static result<std::shared_ptr<const topic_image>> find_topic(const std::string& name,
                                                               const std::optional<model::topic_id>& id,
                                                               const image& in);
  std::int32_t replication_factor() const { return options_.replication_factor; }
  void allocate_producer_ids(io::duration timeout, unique_function<void(result<producer_id_block>)> done);
  // The image holds everything that was acknowledged before this start: until then a topic that is not in it may exist.
  bool is_current() const { return is_current_.load(std::memory_order_acquire); }
  // `done` runs on the metadata executor once that is so; timed_out or stopped when it is not to be.
  void when_current(io::duration timeout, unique_function<void(status)> done);
  // `done` runs on the metadata executor once `holds` is true of the image, now or after a change; timed_out or stopped
  // when it is not to be. `holds` runs there too.
  void when_image(unique_function<bool(const image&)> holds, io::duration timeout, unique_function<void(status)> done);
  // Changes this broker's registration; changes asked for meanwhile build on each other. `change` runs on the metadata
  // executor. not_controller as long as the id is not claimed by this incarnation.
  void change_registration(unique_function<void(broker_registration&)> change, io::duration timeout,
                           unique_function<void(status)> done);
  // Every braid has applied the deletions of entries up to `through`: they need not be remembered.
  void forget_deletions(std::uint64_t through);
  multiraft::checkpoint_stats checkpoints() const { return checkpointer_.statistics(); }  // metadata executor
  // Current, the cluster is founded, and this broker's id is claimed by this incarnation.
  bool is_ready() const;

 private:
  struct change {
    raft::index index;
    raft::term term;
    io::timer_id timer;
    std::uint64_t id = 0;
    unique_function<void(result<outcome>)> done;
  };

  controller(controller_options options, const controller_environment& environment, image_ptr loaded,
             unique_function<void(error)> on_fatal);

  void apply(const raft::entry& entry) override;
  void applied(raft::index index) override;
  std::unique_ptr<multiraft::pinned_state> pin() override;
  void checkpointed(raft::index index) override;

  // The index of the entry; none when it was refused, which `done` has been told then.
  std::optional<raft::index> propose(command what, io::duration timeout, unique_function<void(result<outcome>)> done);
  void settle_identity();
  void tell_waiters(const status& outcome);
  void tell_watchers();
  // What this broker says of itself once everything proposed has been applied; none before its id is claimed.
  std::optional<broker_registration> latest_registration() const;
  void publish();
  void note_office();

  controller_options options_;
  io::executor& owner_;
  io::timer_service& timers_;
  io::random_source& random_;
  unique_function<void(error)> on_fatal_;
  wal::log& wal_;
  machine machine_;
  std::unique_ptr<multiraft::group> group_;
  multiraft::checkpointer checkpointer_;
  std::size_t unpublished_entry_bytes_ = 0;  // of entries that were applied and not yet told of by applied()
  raft::term applied_term_;                  // of the last one
  std::uint64_t forgetting_ = 0;             // proposed
  std::deque<change> changes_;               // proposed, by rising index
  std::uint64_t last_change_ = 0;
  std::vector<unique_function<void(image_ptr)>> subscribers_;
  struct waiter {
    std::uint64_t id = 0;
    io::timer_id timer;
    unique_function<void(status)> done;
  };
  std::vector<waiter> waiters_;  // for is_current()
  struct watcher {
    std::uint64_t id = 0;
    io::timer_id timer;
    unique_function<bool(const image&)> holds;
    unique_function<void(status)> done;
  };
  std::vector<watcher> watchers_;
  std::atomic<bool> is_current_{false};
  std::vector<advertised_listener> fixed_listeners_;
  std::vector<std::string> pushed_listeners_;
  std::optional<std::pair<raft::index, broker_registration>> proposed_registration_;  // the last one
  bool identity_proposed_ = false;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks that outlive this object

  mutable std::mutex image_mutex_;  // guards image_ and office_ alone; held for a copy
  image_ptr image_;
  multiraft::office office_;
};

}  // namespace braidmq::metadata

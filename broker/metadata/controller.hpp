// The metadata quorum's member on this broker: takes changes, commits them in a Raft group of its own, publishes
// images. A member that does not lead gives its changes to the leader, and takes their outcomes from its own log: what
// was committed, every member applies alike. A change whose fate is not known is proposed again, for each of them comes
// to the same when it is applied twice.
//
// Threads: the object lives on the metadata executor; change requests may come from anywhere and their callbacks run on
// the metadata executor (callers hop back to their own). image() may be read from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <map>
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
#include "metadata/leader_link.hpp"
#include "metadata/machine.hpp"
#include "metadata/quorum.hpp"
#include "multiraft/checkpointer.hpp"
#include "multiraft/group.hpp"
#include "multiraft/log_retention.hpp"
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
  std::optional<std::string> rack;      // broker.rack
  uuid cluster_id;                      // what a first start founds
  bool may_found = true;                // no: this broker belongs to a cluster that exists
  std::int32_t replication_factor = 1;  // of the braid: CreateTopics takes -1 or 1..this
  std::int32_t default_partitions = 1;
  std::int32_t max_partitions_per_topic = 10'000;
  std::int64_t max_partitions = 1'000'000;  // of all topics: each costs memory, also when nothing is written to it
  leader_link* leader = nullptr;            // how changes reach a leader elsewhere; outlives the controller
  std::uint64_t retain_bytes = 64U << 20U;  // of the log, for voters that lag
  io::duration retry_interval = std::chrono::milliseconds(50);
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
  // A change that another member gives to this one because it leads. Errors: not_controller, invalid_request.
  void propose_for(const bytes& payload, unique_function<void(result<proposed>)> done);
  // `changed` runs when another one leads, or this one begins to serve or ceases to.
  void on_office(unique_function<void(const multiraft::office&)> changed) { on_office_.push_back(std::move(changed)); }
  // This member is not to lead any more: it does not campaign, and lets another one lead if it does. `done`: it does
  // not lead; or timed_out, when nobody could take over (then it still leads).
  void hand_over(io::duration timeout, unique_function<void(status)> done);
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
  quorum_state quorum() const;                                                            // metadata executor
  multiraft::checkpoint_stats checkpoints() const { return checkpointer_.statistics(); }  // metadata executor
  // Current, the cluster is founded, and this broker's id is claimed by this incarnation.
  bool is_ready() const;

 private:
  // Not answered yet: waits for a leader, is on its way to one, or has a place in the log.
  struct change {
    bytes payload;
    io::timer_id timer;
    unique_function<void(result<outcome>)> done;
    std::optional<proposed> place;
    bool on_its_way = false;
    bool was_sent = false;  // at least once: it may be in the log although nobody has said so
  };
  // What came of the last entries: a change may be applied here before the leader's word of its place has come.
  struct applied_outcome {
    proposed place;
    outcome what;
  };
  static constexpr std::size_t kept_outcomes = 256;

  controller(controller_options options, const controller_environment& environment, image_ptr loaded,
             unique_function<void(error)> on_fatal);

  void apply(const raft::entry& entry) override;
  void applied(raft::index index) override;
  std::unique_ptr<multiraft::pinned_state> pin() override;
  void checkpointed(raft::index index) override;

  void office_changed() override;

  // The change's number.
  std::uint64_t propose(const command& what, io::duration timeout, unique_function<void(result<outcome>)> done);
  void try_to_place(std::uint64_t id);
  void try_to_place_all();
  void on_placed(std::uint64_t id, const result<proposed>& place);
  void put(std::uint64_t id, const proposed& place);
  void finish(std::uint64_t id, result<outcome> outcome);
  void arm_retry();
  void note_outcome(const raft::entry& entry, const outcome& what);
  void try_hand_over();
  void look_whether_current();
  void become_current();
  void settle_identity();
  void register_itself();
  void let_go_of_log();
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
  multiraft::log_retention retention_;
  std::uint64_t forgetting_ = 0;  // proposed
  std::map<std::uint64_t, change> changes_;
  std::multimap<raft::index, std::uint64_t> places_;  // of changes that have one
  std::deque<applied_outcome> outcomes_;              // by rising index
  std::uint64_t last_change_ = 0;
  std::optional<io::timer_id> retry_timer_;
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
  std::optional<std::pair<std::uint64_t, broker_registration>> proposed_registration_;  // of the last such change
  bool founding_proposed_ = false;
  bool registered_ = false;  // since the start, or on its way
  bool asks_whether_current_ = false;
  std::optional<raft::index> current_at_;  // once this is applied
  std::vector<unique_function<void(const multiraft::office&)>> on_office_;
  unique_function<void(status)> on_handed_over_;
  io::timer_id hand_over_timer_;
  io::timer_id hand_over_retry_;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks that outlive this object

  mutable std::mutex image_mutex_;  // guards image_ and office_ alone; held for a copy
  image_ptr image_;
  multiraft::office office_;
};

}  // namespace braidmq::metadata

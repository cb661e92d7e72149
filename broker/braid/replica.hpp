// One braid on this broker: what handlers call. Produce requests go through the aggregator into entries of the Raft
// group; what the group commits is applied by the machine, published, and answered; fetches read what is visible.
//
// Threads: every call and every callback on the owner's executor (the shard to which the braid is pinned).
// Errors: braid::errc. After a failed write of WAL or segments nothing is acknowledged any more and `on_fatal` has run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "braid/aggregator.hpp"
#include "braid/fetch.hpp"
#include "braid/fetch_operation.hpp"
#include "braid/fetch_purgatory.hpp"
#include "braid/machine.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/timers.hpp"
#include "multiraft/checkpointer.hpp"
#include "multiraft/group.hpp"
#include "multiraft/log_retention.hpp"
#include "multiraft/office.hpp"
#include "wal/log.hpp"

namespace braidmq::braid {

// What is kept of a topic; none: no such bound.
struct retention_policy {
  std::optional<std::int64_t> keep_ms;
  std::optional<std::uint64_t> keep_bytes;  // of each partition
};

struct replica_options {
  multiraft::group_options group;
  aggregator_options aggregator;
  storage::log_options log;
  std::string data_folder;                   // partitions' folders are made in here
  multiraft::checkpoint_options checkpoint;  // the group's id is set by the replica
  std::size_t entries_in_flight = 4;         // proposed and not yet applied
  std::size_t in_flight_bytes = 32U << 20U;
  std::size_t write_behind_max_bytes = 128U << 20U;  // apply waits beyond this
  // Segments are written when bytes have waited so long, or so many wait; zero: at once. Small batches go by few calls.
  io::duration write_behind_delay = std::chrono::milliseconds(20);
  std::size_t write_behind_gathered_bytes = 8U << 20U;
  // Where segments of a topic with these configs end; none: where `log` says.
  std::function<storage::segment_bounds(const config_values& configs)> segments;
  // Asked by the leader, of the configs that are set on a topic; none: everything is kept.
  std::function<retention_policy(const config_values& configs)> retention;
  io::duration retention_interval = std::chrono::minutes(5);
  std::size_t retention_step = 1'000;  // partitions that one task looks at: less than a millisecond
  // A producer that has not written to a partition for so long is forgotten there; none: never.
  std::optional<std::chrono::milliseconds> producer_expiration;
  io::duration producer_expiry_interval = std::chrono::minutes(10);
  std::int16_t newest_apply_level = braid::newest_apply_level;  // that this replica knows
  std::uint64_t state_hash_interval = 1024;                     // in entries, of on_state_hash
  io::duration linger{};
  std::uint64_t retain_bytes = 1ULL << 30U;                     // of the log, for voters that lag
  io::duration retry_interval = std::chrono::milliseconds(10);  // of what the group does not take now
  // Who led answers what it refuses when it hears who leads now, or after so long.
  io::duration successor_patience = std::chrono::milliseconds(500);
};

// What the braid's own environment is: everything outside comes in through here.
struct replica_environment {
  io::file_system& fs;
  io::executor& owner;
  io::executor& disk;
  io::executor& background;  // may block for long: syncs and checkpoints
  io::timer_service& timers;
  const io::clock& clock;
  wal::log& wal;
  // Around the group: for the simulator. Empty otherwise.
  std::function<std::unique_ptr<multiraft::group>(std::unique_ptr<multiraft::group>)> wrap_group = nullptr;
};

struct produce_request {
  produce_unit unit;
  io::duration timeout{};
};

// A topic of the metadata log as this braid should have it.
struct wanted_topic {
  model::topic_id id;
  std::int32_t partitions = 0;  // 0 .. this - 1 are of this braid
  std::map<std::string, std::string> configs;
  std::uint64_t changed_index = 0;  // of the last entry that changed the topic
};

// What happened to topics up to an index of the metadata log, since the index that was told before.
struct topic_news {
  std::uint64_t metadata_index = 0;
  std::vector<wanted_topic> topics;        // made or changed
  std::vector<topic_deletion> deletions;   // by an entry that says so: what is only unknown is never deleted
  std::vector<model::topic_id> forgotten;  // deletions that every braid has applied
};

// What the start of a replica came to.
struct start_stats {
  raft::index loaded;  // of the checkpoint; 0: there was none
  std::size_t partitions = 0;
  io::duration checkpoint_read_took{};
  io::duration partitions_opened_took{};
  std::uint64_t entries_applied = 0;  // from the log, until this replica served for the first time
  std::uint64_t bytes_applied = 0;
  io::duration applied_took{};  // zero: it has not caught up yet
};

// Of another voter, as the leader knows it.
struct peer_stats {
  raft::node_id voter;
  raft::index match;            // durable there
  bool needs_snapshot = false;  // what it lacks is not in the log any more
};

struct replica_stats {
  start_stats start;
  bool serves = false;
  raft::term term;
  raft::index commit_index;
  raft::index applied_index;
  raft::index visible_index;
  std::size_t topics = 0;
  std::size_t partitions = 0;
  std::size_t partitions_being_removed = 0;  // deleted; files wait for the next checkpoint, or are not yet gone
  std::uint64_t removals_failed = 0;         // files of deleted partitions that could not be unlinked
  std::size_t queued_bytes = 0;
  std::size_t write_behind_bytes = 0;
  std::size_t parked_produces = 0;
  std::size_t parked_fetches = 0;
  std::uint64_t entries_applied = 0;
  std::uint64_t entry_bytes_applied = 0;
  std::uint64_t units_applied = 0;
  std::uint64_t slices_appended = 0;
  std::uint64_t slices_duplicate = 0;
  std::uint64_t slices_refused = 0;
  std::uint64_t bytes_appended = 0;
  std::uint64_t log_starts_moved = 0;  // proposed by this replica
  std::int16_t apply_level = 0;
  std::size_t producers = 0;  // that are remembered, counted in each partition
  std::uint64_t producers_expired = 0;
  std::uint64_t producers_evicted = 0;  // of a partition that had too many
  multiraft::checkpoint_stats checkpoints;
  std::vector<peer_stats> peers;  // of a leader
};

class replica final : private multiraft::state_machine, private multiraft::checkpoint_source {
 public:
  // Blocking: loads the checkpoint, opens the partitions that it names, and removes the files of those that it does
  // not: they were deleted, or the log makes them again.
  static result<std::unique_ptr<replica>> create(replica_options options, replica_environment environment,
                                                 unique_function<void(error)> on_fatal);
  ~replica() override;

  // `changed` runs when another replica leads, or this one begins to serve or ceases to. Before start().
  void on_office(unique_function<void(const multiraft::office&)> changed) { on_office_ = std::move(changed); }
  // `wanted` hears, now and then while that is so, of a voter that lacks entries which the log does not hold any more.
  // Before start().
  void on_snapshot_wanted(unique_function<void(const raft::node_id&)> wanted) {
    on_snapshot_wanted_ = std::move(wanted);
  }
  // `caught_up` runs once: this replica has applied all that was acknowledged before its start. Before start().
  void on_caught_up(unique_function<void()> caught_up) { on_caught_up_ = std::move(caught_up); }
  // `changed` runs when this replica begins or ceases to serve. Before start().
  void on_serving(unique_function<void(bool)> changed) { on_serving_ = std::move(changed); }
  // `seen` runs with the hash of the state after each entry whose index is a multiple of the interval: equal on every
  // replica, and in every life. Before start().
  void on_state_hash(std::function<void(raft::index, const hash128&)> seen) { on_state_hash_ = std::move(seen); }
  // `applied` runs when this replica leads and knows of no deletion of the metadata log, up to this index, that the
  // braid has not applied. Before start().
  void on_deletions_applied(unique_function<void(std::uint64_t)> applied) {
    on_deletions_applied_ = std::move(applied);
  }
  void start();
  void stop();
  // A message of another voter.
  void step(raft::message message) { group_->step(std::move(message)); }
  // The newest level of apply that another voter has said to know. The leader raises the braid's when all know it.
  void note_level(const raft::node_id& voter, std::int16_t newest);
  // This replica is not to lead any more: it does not campaign, and lets another one lead if it does. Produces that are
  // here are answered as ever. `done`: it does not lead; or timed_out, when nobody could take over (it still leads
  // then).
  void hand_over(io::duration timeout, unique_function<void(status)> done);

  // `accepted` runs when the request has its place in the order of the braid: the caller may hand over the next one.
  // `done` runs after that, once: outcomes as in the unit, or not_leader, too_large, timed_out, stopped for all of it.
  // What has its place when this replica ceases to lead is answered when it turns out whether it stays: not_leader says
  // that it is certainly not there.
  void produce(produce_request request, unique_function<void()> accepted,
               unique_function<void(result<unit_outcome>)> done);

  // Answers when min_bytes can be had, an error is among the partitions, or max_wait has passed.
  void fetch(fetch_request request, unique_function<void(result<fetch_answer>)> done);

  // Whether produce requests are refused for want of space. What is under way goes on, and a checkpoint lets go of what
  // can go.
  void set_disk_full(bool is_full);
  // Proposes what retention lets go of now, if this replica leads: looks at all partitions, in steps. Otherwise it is
  // done once in an interval. One that is under way goes on.
  void sweep();
  // The same for producers that have been idle for long: looks at all partitions, in steps.
  void expire_producers();

  // Fetches that wait answer now with what there is, and later ones do not wait: the broker is about to stop.
  void stop_waiting();

  void find_offset(offset_query query, unique_function<void(offset_answer)> done);
  // Where the records of an epoch end (KIP-320); answered by the leader only: not_leader, unknown_partition,
  // fenced_leader_epoch, unknown_leader_epoch.
  epoch_answer find_epoch_end(const epoch_query& query) const;

  // By rising index. The leader proposes what the braid lacks, now or when leadership comes.
  void follow(topic_news news);
  // `done` runs when the topic is here as the metadata log had it at `metadata_index` or later (gone, when that deleted
  // it), with unknown_partition when it has been deleted by a later entry, or with timed_out.
  void when_applied(const model::topic_id& topic, std::uint64_t metadata_index, io::duration timeout,
                    unique_function<void(status)> done);

  // Who leads this braid, as this replica knows it. Any thread.
  multiraft::office office() const;
  replica_stats statistics() const;
  const machine& state() const { return machine_; }

 private:
  class logs;
  struct parked_produce {
    unique_function<void(result<unit_outcome>)> done;
    io::timer_id timer;
  };
  struct in_flight_entry {
    raft::index index;
    raft::term term;
    std::size_t size_bytes;
    std::vector<request_id> requests;
    std::vector<model::topic_id> topics;
  };
  using wish = std::variant<wanted_topic, topic_deletion>;
  // Deleted, and still there: a checkpoint before the deletion speaks of its files.
  struct retired_partition {
    raft::index at;
    std::unique_ptr<partition::partition> partition;
    bool removing = false;
  };
  struct topic_waiter {
    std::uint64_t id;
    model::topic_id topic;
    std::uint64_t metadata_index;
    io::timer_id timer;
    unique_function<void(status)> done;
  };

  replica(replica_options options, replica_environment environment, unique_function<void(error)> on_fatal);

  void apply(const raft::entry& entry) override;
  void applied(raft::index index) override;
  bool can_apply() const override;
  void office_changed() override;
  void snapshot_wanted(const raft::node_id& peer) override;

  std::unique_ptr<multiraft::pinned_state> pin() override;
  void checkpointed(raft::index index) override;
  status load(machine_state from);
  status remove_orphans();
  void arm_sweep();
  void look_for_old();
  void arm_expiry();
  void look_for_idle();
  std::int16_t level_of_members() const;
  void propose_level();

  void schedule_pump();
  void pump();
  // False: it is held, for the group does not take it now.
  bool propose(built_entry entry);
  void refuse(const built_entry& entry, const error& why);
  void answer_lost(const raft::entry& entry);
  void drop_queue();
  void try_hand_over();
  void look_for_successor();
  void when_leader_is_known(unique_function<void()> say);
  void say_who_leads();
  void look_whether_caught_up();
  void note_caught_up();
  void let_go_of_log();
  // `confirmed` runs when this replica is known to have led after the call, and has applied what it acknowledged until
  // then; with an error when that is not so.
  void confirm_office(unique_function<void(status)> confirmed);
  void run_confirmed();
  offset_answer end_of(const partition::partition& target, bool earliest) const;
  void look_up(offset_query query, bool is_confirmed, unique_function<void(offset_answer)> done);
  void propose_missing();
  void drop_fulfilled();
  void tell_deletions();
  std::optional<topic_change> change_for(const wish& wanted);
  void answer_waiters();
  void end_waiters(const topic_deletion& deletion);
  void retire(std::unique_ptr<partition::partition> deleted);
  void remove_files(const model::topic_partition_id& id);
  void answer(request_id id, result<unit_outcome> outcome);
  void tell_serving();
  bool may_answer(const fetch_request& request) const;
  void run_fetch(std::shared_ptr<fetch_request> request, io::time_point deadline,
                 unique_function<void(result<fetch_answer>)> done);
  void end_fetch_pass(std::shared_ptr<fetch_request> request, io::time_point deadline, fetch_operation::outcome outcome,
                      unique_function<void(result<fetch_answer>)> done);
  bool must_confirm(const fetch_request& request, const fetch_answer& answer) const;
  void confirm_fetch(std::shared_ptr<fetch_request> request, io::time_point deadline,
                     unique_function<void(result<fetch_answer>)> done);
  bool has_news(const fetch_request& request, const fetch_answer& answer);
  void write_behind(const std::vector<published>& grown);
  void write_gathered();
  void on_written(std::size_t bytes);
  void fatal(error why);

  replica_options options_;
  replica_environment environment_;
  unique_function<void(error)> on_fatal_;
  std::unique_ptr<logs> logs_;
  machine machine_;
  aggregator aggregator_;
  fetch_purgatory purgatory_;
  std::unique_ptr<multiraft::group> group_;
  multiraft::checkpointer checkpointer_;
  std::size_t unpublished_entry_bytes_ = 0;  // of entries that were applied and not yet told of by applied()
  raft::term applied_term_;                  // of the last one
  multiraft::log_retention retention_;

  request_id last_request_;
  std::unordered_map<request_id, parked_produce> parked_;
  std::deque<in_flight_entry> in_flight_;  // by rising index and term
  std::optional<built_entry> held_;        // while the group takes nothing
  std::optional<io::timer_id> held_timer_;
  std::multimap<raft::index, unique_function<void(status)>> confirmed_;  // run when that is applied
  std::size_t in_flight_bytes_ = 0;
  std::vector<std::pair<std::vector<request_id>, std::vector<unit_outcome>>> outcomes_;  // applied, not yet published

  std::uint64_t followed_index_ = 0;        // of the metadata log
  std::map<model::topic_id, wish> wishes_;  // of the metadata log, not yet known to be so here
  std::set<model::topic_id> changing_;      // a change of theirs waits in the aggregator or is in flight
  std::vector<topic_waiter> topic_waiters_;
  std::uint64_t last_topic_waiter_ = 0;
  std::map<model::topic_partition_id, retired_partition> retired_;  // until their files are gone
  // Segments that had left the logs when the checkpoint that is under way was pinned.
  std::vector<std::pair<model::topic_partition_id, std::uint64_t>> pinned_trims_;
  io::timer_id sweep_timer_;
  std::optional<model::topic_partition_id> sweep_next_;  // where the look for old records goes on
  bool sweep_waits_ = false;                             // until what it has proposed is applied
  bool sweep_posted_ = false;
  raft::index moves_through_;  // the last entry proposed here that moves log starts
  io::timer_id expiry_timer_;
  std::optional<model::topic_partition_id> expiry_next_;  // where the look for idle producers goes on
  bool expiry_waits_ = false;                             // until what it has proposed is applied
  raft::index expiries_through_;                          // the last entry proposed here that forgets some
  std::map<raft::node_id, std::int16_t> levels_;          // that the other voters know, as far as they have said
  raft::index level_at_;                                  // the last entry proposed here that raises the level
  std::int64_t last_proposed_time_ms_ = 0;

  void note_office();

  mutable std::mutex office_mutex_;  // guards office_ alone; held for a copy
  multiraft::office office_;
  unique_function<void(const multiraft::office&)> on_office_;
  unique_function<void()> on_caught_up_;
  unique_function<void(const raft::node_id&)> on_snapshot_wanted_;
  std::optional<raft::index> caught_up_at_;  // once this is applied
  bool asks_whether_caught_up_ = false;
  bool is_caught_up_ = false;
  unique_function<void(status)> on_handed_over_;
  io::timer_id hand_over_timer_;
  io::timer_id hand_over_retry_;
  bool was_leader_ = false;
  bool awaits_successor_ = false;                // it led until now, and does not know who does
  std::vector<unique_function<void()>> unsaid_;  // what is answered when it knows
  io::timer_id unsaid_timer_;
  unique_function<void(bool)> on_serving_;
  unique_function<void(std::uint64_t)> on_deletions_applied_;
  bool tell_deletions_ = false;
  std::function<void(raft::index, const hash128&)> on_state_hash_;
  bool was_serving_ = false;
  bool pump_scheduled_ = false;
  bool stopped_ = false;
  bool waits_ = true;  // fetches may wait for bytes
  bool failed_ = false;
  bool disk_full_ = false;
  std::size_t write_behind_bytes_ = 0;
  std::set<model::topic_partition_id> gathering_;  // have bytes of which their logs were not told
  std::size_t gathered_bytes_ = 0;
  std::optional<io::timer_id> gather_timer_;
  replica_stats stats_;
  io::time_point started_at_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks that outlive the replica
};

}  // namespace braidmq::braid

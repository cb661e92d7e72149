// Drives one Raft group: takes readies from the node, writes them through the WAL, sends what it has to say to the
// other voters, applies committed entries in order to a state machine, from memory or, when they are no longer (or not
// yet again) there, from the WAL. The braid's and the metadata quorum's groups are both of this kind.
//
// Threads: everything on the owner's executor. Nothing is applied inside a call: entries are applied in slices, each a
// task of its own, so that a long committed run leaves the executor to others in between. The state machine may call
// propose, resume and stop from inside apply and applied; it must not destroy the group there.
//
// Errors: a WAL that fails, or holds what cannot be, ends the group: on_fatal is told once, and nothing is applied or
// acknowledged afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/executor.hpp"
#include "io/timers.hpp"
#include "raft/node.hpp"
#include "wal/log.hpp"

namespace braidmq::multiraft {

class state_machine {
 public:
  virtual ~state_machine() = default;

  // Called once for each index, in order, no-ops included. A function of entry and state alone.
  virtual void apply(const raft::entry& entry) = 0;

  // After a run of apply calls: all that was applied up to `applied` may be shown (visible index, answers).
  virtual void applied(raft::index applied) = 0;

  // False stops the driver before the next entry until resume() is called (write-behind at its bound).
  virtual bool can_apply() const { return true; }

  // The node's role, its leader or its term is another one. Not inside a call of the group's.
  virtual void office_changed() {}

  // `peer` lacks entries that the log does not hold any more. Said again after group_options::snapshot_retry for as
  // long as that is so.
  virtual void snapshot_wanted(const raft::node_id& /*peer*/) {}
};

// Carries messages to the other voters of a group. Each may be lost, delayed, doubled, or come after a later one.
class transport {
 public:
  virtual ~transport() = default;

  // Never calls back inside. Bounds what waits by dropping.
  virtual void send(raft::group_id group, raft::message message) = 0;
};

struct group_options {
  raft::group_id id;
  raft::config raft;
  io::duration tick_interval = std::chrono::milliseconds(50);
  std::size_t read_chunk_bytes = 4U << 20U;      // one read from the WAL
  std::size_t max_unapplied_bytes = 64U << 20U;  // proposals are refused (busy) beyond this
  std::size_t slice_bytes = 1U << 20U;           // a slice of applying ends when it has reached this
  std::size_t slice_entries = 256;               // ... or this
  // Where the state machine stands already: the index of the checkpoint that it was loaded from. Entries from the next
  // one on are applied, each once.
  raft::index applied;
  raft::term applied_term;                // of that entry
  multiraft::transport* peers = nullptr;  // outlives the group; needed by more than one voter
  io::duration snapshot_retry = std::chrono::seconds(1);
  std::size_t max_reads = 4096;  // that wait for their index
};

enum class errc {
  not_leader = 1,
  busy,          // too many bytes proposed and not yet applied: back-pressure
  transferring,  // the leader is handing over its office: ask the next one, or again
  lost,          // a read: the leader changed meanwhile, nothing is known
  stopped,
  checkpoint_damaged,  // bytes that were durable are not what was written
  checkpoint_format,   // of a later version, or of another group
};
std::error_code make_error_code(errc code);

class group {
 public:
  // Restores the node from what the WAL recovered. Refuses a WAL that lacks entries after options.applied
  // (wal::errc::not_retained), and what raft::node::create refuses. `on_fatal` is told once when the WAL has failed.
  static result<std::unique_ptr<group>> create(group_options options, wal::log& wal, state_machine& machine,
                                               io::executor& owner, io::timer_service& timers,
                                               unique_function<void(error)> on_fatal);
  virtual ~group() = default;

  // A single voter campaigns at once, others when they have heard no leader for a while.
  virtual void start() = 0;
  // For ever; idempotent. Entries under way may or may not become durable; nothing more is applied.
  virtual void stop() = 0;

  // The index under which the command will be applied if this node keeps its office. One command is taken whatever its
  // size when nothing else is unapplied.
  virtual result<raft::index> propose(bytes command) = 0;
  // The state machine can apply again.
  virtual void resume() = 0;

  // A message of another voter. All that come before this executor's next task go by one write.
  virtual void step(raft::message message) = 0;

  // `done` runs, never inside the call, with an index: a state machine that has applied it has seen all that was
  // acknowledged before the call. A follower asks its leader. Errors: not_leader (nobody is known to lead, or the
  // leader is new), busy, lost, stopped.
  virtual void read_index(unique_function<void(result<raft::index>)> done) = 0;

  // Leader: lets another one lead, `to` or the one that has most of the log. Proposals are refused (transferring) until
  // that has happened or an election timeout has passed: node().is_transferring().
  virtual status transfer(const raft::node_id& to = {}) = 0;
  // A node that is drained does not campaign.
  virtual void set_campaigns(bool campaigns) = 0;
  // The WAL no longer holds entries up to this one, which are all applied.
  virtual void compacted(raft::index through) = 0;

  // Leader: the last entry that every voter is known to have durably; none when that is not known here.
  virtual std::optional<raft::index> held_by_all() const = 0;

  virtual const raft::node& node() const = 0;
  // Memory of entries that are proposed and not yet applied: payloads, and a small fixed cost of each entry.
  virtual std::size_t unapplied_bytes() const = 0;
};

}  // namespace braidmq::multiraft

template <>
struct std::is_error_code_enum<braidmq::multiraft::errc> : std::true_type {};

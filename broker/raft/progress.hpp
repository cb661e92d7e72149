// What a leader knows of one other voter, and what it may send to it. Three states (etcd's design notes, "progress"):
//   probe      where the logs part is not known: one append at a time, until one is accepted
//   replicate  appends follow one another without waiting, within a window of bytes and count
//   snapshot   the entries that it lacks are gone: nothing is sent until it is told that a snapshot was installed
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "raft/types.hpp"

namespace braidmq::raft {

class progress {
 public:
  enum class state { probe, replicate, snapshot };

  explicit progress(const node_id& id) : id_(id) {}

  const node_id& id() const { return id_; }
  state current() const { return state_; }
  // Durable there, and equal to the leader's log. Grows only, within one term of office.
  index match() const { return match_; }
  // The first entry that has not been sent.
  index next() const { return next_; }

  // The leader's office begins.
  void reset(index next);
  void become_probe(index next);
  void become_snapshot();

  // True when an append may leave now: a probe always (it may be empty), others when there is something to carry.
  bool may_send(index last, std::size_t max_appends, std::size_t max_bytes) const;
  // An append of entries up to `last` has left; without any it has no bytes.
  void sent(index last, std::size_t bytes, index commit);
  // Entries for it are being read from storage; nothing else is sent meanwhile.
  void wait_for_entries(std::uint64_t request) { entries_request_ = request; }
  std::uint64_t entries_request() const { return entries_request_; }
  void entries_came() { entries_request_ = 0; }

  // Its log agrees up to `index`. False when this was known.
  bool accepted(index index);
  // True when a rejection of an append after `prev` says something new: not one that was sent long ago.
  bool is_news(index prev) const;
  // It answered a heartbeat, and the one before it, without progress: a probe may be repeated, and an append that seems
  // lost is looked for. One answer proves nothing: what was sent may wait for the disk there.
  void answered_heartbeat(index last);
  // An empty append must find out whether what was sent has arrived.
  bool must_ping() const { return ping_; }
  void pinged() { ping_ = false; }

  // Commit as this follower should know it, and whether it has been told.
  bool owes_commit(index commit) const;
  index commit_for(index commit) const { return commit < match_ ? commit : match_; }
  void told_commit(index commit) { commit_told_ = commit; }

  void heard() { heard_ = true; }
  // Whether it was heard since the last call.
  bool take_heard();
  // It was heard lately: since the call before the last one.
  bool is_alive() const { return heard_ || heard_before_; }
  // In how many calls of take_heard() in a row it had been heard, up to a bound.
  std::uint32_t heard_in_a_row() const { return heard_in_a_row_; }

  std::uint64_t round = 0;  // the latest round of reads that it answered in this term

 private:
  struct append {
    index last;
    std::size_t bytes;
  };

  node_id id_;
  state state_ = state::probe;
  index match_;
  index next_;
  index commit_told_;
  index match_at_heartbeat_;
  std::deque<append> window_;
  std::size_t window_bytes_ = 0;
  std::uint64_t entries_request_ = 0;
  bool probe_out_ = false;
  bool probe_is_old_ = false;  // it was out at the last answer to a heartbeat
  bool ping_ = false;
  bool heard_ = false;
  bool heard_before_ = false;
  std::uint32_t heard_in_a_row_ = 0;
};

}  // namespace braidmq::raft

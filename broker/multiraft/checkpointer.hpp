// Takes checkpoints of a group's state machine: when so many bytes were applied since the last one, or so much time has
// passed, it pins the state, waits until the bytes that the state speaks of are in their files, syncs those, a few at
// once and with pauses between, and writes the checkpoint. Once that is durable the owner may let go of what lies
// before it: entries of the log, files of what was deleted.
//
// Threads: everything on the owner's executor; blocking work on `background`, which may be a pool: several syncs are
// posted to it at once. At most one checkpoint is under way.
// Errors: without space the attempt is given up, counted, and made again an interval later; any other error of a disk
// is final (on_fatal), as nothing is known of unsynced bytes any more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_function.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/timers.hpp"
#include "multiraft/checkpoint_file.hpp"

namespace braidmq::multiraft {

// The state of one index. Made and destroyed on the owner's executor.
class pinned_state {
 public:
  virtual ~pinned_state() = default;

  virtual raft::index index() const = 0;
  // Owner: `done` runs when everything up to the index has been written to files, synced or not.
  virtual void when_written(unique_function<void(status)> done) = 0;
  // Owner, after when_written: what remains to be synced, each blocking.
  virtual std::vector<unique_function<status()>> take_syncs() = 0;
  // Background; the owner goes on changing its state meanwhile.
  virtual status write(checkpoint_writer& to) const = 0;
};

class checkpoint_source {
 public:
  virtual ~checkpoint_source() = default;

  virtual std::unique_ptr<pinned_state> pin() = 0;
  // The state of `index` is durable: nothing of the log up to it is needed any more to come back to it.
  virtual void checkpointed(raft::index index) = 0;
};

struct checkpoint_options {
  std::string path;  // of the file; its folder must exist
  raft::group_id group;
  std::uint64_t due_bytes = 256ULL << 20U;
  io::duration due_after = std::chrono::seconds(60);
  // A file system makes the metadata of many files durable by one write of its journal, when they are synced together.
  unsigned syncs_at_once = 8;
};

struct checkpoint_environment {
  io::file_system& fs;
  io::executor& background;
  io::executor& owner;
  io::timer_service& timers;
  const io::clock& clock;
};

struct checkpoint_stats {
  std::uint64_t taken = 0;
  std::uint64_t failed = 0;  // for want of space
  raft::index last_index;
  std::uint64_t last_bytes = 0;  // of the file
  io::duration last_took{};
  io::time_point last_at;  // zero: none in this life
  std::uint64_t bytes_since = 0;
};

class checkpointer {
 public:
  // `on_fatal` is told once.
  checkpointer(checkpoint_options options, checkpoint_environment environment, checkpoint_source& source,
               unique_function<void(error)> on_fatal);
  ~checkpointer();

  // The state stands at `loaded`, from a checkpoint or (0) from nothing.
  void start(raft::index loaded);
  void stop();

  // After each run of applied entries.
  void applied(raft::index index, std::size_t size_bytes, raft::term term);
  // One is taken as soon as can be, if anything was applied since the last one.
  void request();

  const checkpoint_stats& statistics() const { return stats_; }

 private:
  struct job;

  void arm();
  void begin_if_due();
  void begin();
  void sync_next(const std::shared_ptr<job>& work);
  void on_synced(const std::shared_ptr<job>& work, status synced, io::duration took);
  void write_file(const std::shared_ptr<job>& work);
  void finish(const std::shared_ptr<job>& work, result<std::uint64_t> written);
  void failed(const std::shared_ptr<job>& work, error why);
  // For callbacks and tasks: nothing of a checkpointer that has stopped runs.
  template <class F>
  auto guarded(F callback);

  checkpoint_options options_;
  checkpoint_environment environment_;
  checkpoint_source& source_;
  unique_function<void(error)> on_fatal_;
  checkpoint_stats stats_;
  raft::index applied_;
  raft::term term_;  // of the entry at applied_
  io::time_point due_at_;
  io::time_point not_before_;  // after an attempt without space
  bool requested_ = false;
  io::timer_id timer_;
  std::shared_ptr<job> running_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::multiraft

// The partition log over segment files. What it does is in partition_log.hpp; how:
// - One disk task writes at a time. While it runs, appends gather, and the next task takes them together: the busier
// the
//   log, the larger its writes.
// - A read takes, at the call, the windows of the files that may hold its answer (ends of completed writes bound them)
//   and references to the batches in memory after them. What happens to the log afterwards does not touch it.
// - Tasks hold no reference to the log, only a token that the owner's executor asks before it calls back.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "storage/epoch_runs.hpp"
#include "storage/log_snapshot.hpp"
#include "storage/memory_tail.hpp"
#include "storage/partition_log.hpp"
#include "storage/recovery.hpp"
#include "storage/segment.hpp"

namespace braidmq::storage {

class file_partition_log final : public partition_log {
 public:
  file_partition_log(io::file_system& fs, io::executor& disk, io::executor& owner, std::string folder,
                     log_options options, std::optional<recovered_log> recovered, log_callbacks callbacks);
  ~file_partition_log() override;

  void append(stored_batch batch) override;
  void write_pending() override;
  void set_segment_bounds(segment_bounds bounds) override;
  void trim(model::offset start) override;
  std::uint64_t trimmed_segments() const override { return trimmed_count_; }
  void remove_trimmed(std::uint64_t count) override;
  model::offset retained_start(std::optional<std::int64_t> oldest_ms,
                               std::optional<std::uint64_t> max_bytes) const override;
  model::offset start_offset() const override;
  model::offset end_offset() const override;
  std::uint64_t size_bytes() const override { return size_bytes_; }
  std::size_t pending_bytes() const override { return tail_.pending_bytes(); }
  void read(read_request request, unique_function<void(result<std::vector<bytes>>)> done) override;
  void find_timestamp(std::int64_t timestamp_ms, model::offset limit,
                      unique_function<void(result<std::optional<timestamp_match>>)> done) override;
  void find_max_timestamp(model::offset limit,
                          unique_function<void(result<std::optional<timestamp_match>>)> done) override;
  log_pin pin() override;
  void drain(unique_function<void(status)> done) override;
  void cut_leftovers() override;
  void remove(unique_function<void(status)> done) override;

 private:
  friend class partition_log;  // which opens it

  using self_token = std::weak_ptr<file_partition_log*>;

  struct segment_job {
    std::shared_ptr<segment_files> files;
    segment_write what;
  };
  struct planned_part {
    std::size_t segment;  // index in segments_
    std::uint64_t batch_bytes;
    model::offset end;
  };
  struct waiting_drain {
    std::uint64_t target;  // count of batches that must be written
    unique_function<void(status)> done;
  };
  void start_write();
  std::vector<segment_job> plan_write();
  void on_written(status outcome);
  void remove_when_idle();
  void drop_trimmed();
  void fail_log(error cause);

  std::size_t segment_of(model::offset offset) const;
  // Batches at or after this offset are in memory.
  model::offset memory_start() const;
  // The part of a segment from the batch that holds `from` to where batches at or after `limit` begin.
  read_window window_of(const segment& part, model::offset from, model::offset limit) const;
  log_snapshot snapshot_of_read(const read_request& request) const;
  log_snapshot snapshot_of_search(std::int64_t timestamp_ms, model::offset limit) const;

  // Keeps a callback in the log, so that it dies with the log and on the owner's thread; tasks hold it weakly.
  template <class T>
  std::weak_ptr<unique_function<void(result<T>)>> keep(unique_function<void(result<T>)> done);
  template <class T>
  static void call_back(const self_token& token, const std::weak_ptr<unique_function<void(result<T>)>>& waiting,
                        result<T> value);
  // Runs `done` on the owner's executor, if the log still lives.
  template <class T>
  void answer(result<T> value, unique_function<void(result<T>)> done);
  // Runs `work` on the disk executor, then `done` on the owner's with what it returned, if the log still lives.
  template <class T>
  void on_disk(unique_function<result<T>()> work, unique_function<void(result<T>)> done);

  io::file_system& fs_;
  io::executor& disk_;
  io::executor& owner_;
  std::string folder_;
  log_options options_;
  log_callbacks owner_callbacks_;
  bool folder_ready_;  // or the next disk task makes it so

  std::deque<std::unique_ptr<segment>> segments_;
  epoch_runs epochs_;
  model::offset start_;
  std::uint64_t size_bytes_ = 0;
  memory_tail tail_;

  std::deque<std::shared_ptr<segment_files>> trimmed_;  // files that wait to be unlinked, oldest first
  std::uint64_t trimmed_count_ = 0;                     // with those that were unlinked

  std::vector<planned_part> in_flight_;  // empty: no write is under way
  std::size_t in_flight_batches_ = 0;
  std::size_t write_segment_ = 0;  // where the next pending batch goes
  std::uint64_t written_batches_ = 0;
  std::uint64_t write_through_ = 0;  // so many are to be written, counted as the ones above
  std::deque<waiting_drain> drains_;
  bool failed_ = false;
  bool removed_ = false;
  unique_function<void(status)> on_removed_;  // until the files are about to go

  std::unordered_set<std::shared_ptr<void>> callbacks_;
  std::shared_ptr<file_partition_log*> self_;
};

}  // namespace braidmq::storage

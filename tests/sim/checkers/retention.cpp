// L5: the start of a log never falls, and rises only as far as retention says: by whole batches, with as many bytes
// left as are to be kept, and no younger record gone. Where everything is kept, it stays at 0.
#include <algorithm>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

class retention_check {
 public:
  retention_check(const run_record& run, violations& found) : run_(run), found_(found) {}

  void check_start(const topic_partition_id& target, std::int64_t start, std::int64_t known) {
    if (start < known) report(target, fmt::format("begins at {}, and began at {} before", start, known));
    if (start > 0 && run_.kept.everything()) report(target, fmt::format("begins at {}, and is kept whole", start));
  }

  void check_log(const topic_partition_id& target, const seen_log& log) {
    check_start(target, log.start, 0);
    if (!log.batches.empty() && log.batches.front()->base != log.start) {
      report(target, fmt::format("begins at {}, and its first batch at {}", log.start, log.batches.front()->base));
    }
    std::uint64_t left = 0;
    for (const seen_batch_ptr& batch : log) left += batch->size_bytes;
    if (log.start > 0 && run_.kept.size_bytes && left < *run_.kept.size_bytes) {
      report(target, fmt::format("has {} bytes left, and {} are kept", left, *run_.kept.size_bytes));
    }
  }

  // A batch that somebody read and that is gone now.
  void check_gone(const topic_partition_id& target, const seen_batch& batch) {
    const auto last = run_.final_read.find(target);
    if (!run_.kept.age_ms || last == run_.final_read.end() || batch.base >= last->second.start) return;
    std::int64_t newest_ms = 0;
    for (const seen_record& record : batch.records) newest_ms = std::max(newest_ms, record.timestamp_ms);
    if (newest_ms + *run_.kept.age_ms <= run_.log.latest_wall_ms()) return;
    report(target, fmt::format("offset {} is gone {} ms too early", batch.base,
                               newest_ms + *run_.kept.age_ms - run_.log.latest_wall_ms()));
  }

 private:
  void report(const topic_partition_id& target, const std::string& what) {
    found_.push_back({"retention", to_string(target, run_.log) + " " + what});
  }

  const run_record& run_;
  violations& found_;
};

}  // namespace

void check_retention(const run_record& run, violations& found) {
  retention_check check(run, found);
  for (const fetch_record& fetch : run.log.fetches()) {
    for (const fetched_partition& one : fetch.partitions) {
      const bool tells_start = one.code == protocol::error_code::none && one.log_start != -1;  // not before version 5
      if (tells_start) check.check_start(one.target, one.log_start, one.start_floor);
      for (const seen_batch_ptr& batch : one.batches) check.check_gone(one.target, *batch);
    }
  }
  for (const offset_record& answer : run.log.offset_answers()) {
    constexpr std::int64_t earliest = -2;
    if (answer.code != protocol::error_code::none || answer.timestamp != earliest) continue;
    check.check_start(answer.target, answer.offset, answer.start_floor);
  }
  for (const auto& [target, log] : run.final_read) check.check_log(target, log);
}

}  // namespace braidmq::sim

// L6: an answer by time equals a scan of the log as far as it could be seen. The end never falls, over restarts too,
// and is never below what was acknowledged.
#include <algorithm>
#include <map>
#include <optional>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

constexpr std::int64_t latest = -1;
constexpr std::int64_t max_timestamp = -3;

// The times of a log by offset.
class log_times {
 public:
  log_times() = default;
  explicit log_times(const seen_log& log) : start_(log.start) {
    for (const seen_batch_ptr& batch : log) {
      for (const seen_record& record : batch->records) times_.push_back(record.timestamp_ms);
    }
  }
  std::int64_t start() const { return start_; }
  std::int64_t end() const { return start_ + std::ssize(times_); }
  std::int64_t operator[](std::int64_t offset) const { return times_[static_cast<std::size_t>(offset - start_)]; }

 private:
  std::int64_t start_ = 0;
  std::vector<std::int64_t> times_;
};

// Empty: right. What has been let go of since cannot be judged.
std::string judge_time(const offset_record& answer, const log_times& times) {
  std::int64_t first = times.start();
  while (first < times.end() && times[first] < answer.timestamp) ++first;
  if (answer.offset == -1) {
    return first < answer.floor ? fmt::format("none, and offset {} was visible", first) : std::string();
  }
  if (answer.offset < times.start()) return {};
  if (answer.offset >= times.end()) return fmt::format("offset {}, beyond the final log", answer.offset);
  if (first != answer.offset) return fmt::format("offset {}, a scan says {}", answer.offset, first);
  if (times[first] != answer.answered_timestamp) return "the wrong timestamp";
  return {};
}

std::string judge_max(const offset_record& answer, const log_times& times) {
  if (answer.offset == -1) return answer.floor > times.start() ? "none, and there were records" : std::string();
  if (answer.offset >= times.end()) return "an offset beyond the log";
  if (answer.offset >= times.start() && times[answer.offset] != answer.answered_timestamp) return "the wrong timestamp";
  // A log that has become shorter than the floor is the business of other checkers.
  const std::int64_t end = std::min(std::max(answer.floor, answer.offset), times.end());
  for (std::int64_t i = times.start(); i < end; ++i) {
    if (times[i] > answer.answered_timestamp)
      return fmt::format("offset {}, and {} has a larger time", answer.offset, i);
  }
  return {};
}

std::string judge(const offset_record& answer, const log_times& times) {
  if (answer.timestamp == latest) {
    if (answer.offset < answer.floor) return fmt::format("ends at {}, and {} was known", answer.offset, answer.floor);
    if (answer.offset > times.end()) return fmt::format("ended at {}, beyond the final log", answer.offset);
    return {};
  }
  return answer.timestamp == max_timestamp ? judge_max(answer, times) : judge_time(answer, times);
}

}  // namespace

void check_list_offsets(const run_record& run, violations& found) {
  std::map<topic_partition_id, log_times> times;
  for (const auto& [target, log] : run.final_read) times.emplace(target, log);
  for (const offset_record& answer : run.log.offset_answers()) {
    constexpr std::int64_t earliest = -2;  // of which check_retention has the say
    if (answer.code != protocol::error_code::none || answer.timestamp == earliest) continue;
    const std::string wrong = judge(answer, times[answer.target]);
    if (!wrong.empty()) {
      found.push_back({"list-offsets",
                       fmt::format("{} asked for {}: {}", to_string(answer.target, run.log), answer.timestamp, wrong)});
    }
  }
}

}  // namespace braidmq::sim

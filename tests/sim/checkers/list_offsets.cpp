// L6: an answer by time equals a scan of the log as far as it could be seen. The end never falls, over restarts too,
// and is never below what was acknowledged.
#include <algorithm>
#include <map>
#include <optional>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

constexpr std::int64_t latest = -1;
constexpr std::int64_t earliest = -2;
constexpr std::int64_t max_timestamp = -3;

std::vector<std::int64_t> times_of(const std::vector<seen_batch_ptr>& log) {
  std::vector<std::int64_t> times;
  for (const seen_batch_ptr& batch : log) {
    for (const seen_record& record : batch->records) times.push_back(record.timestamp_ms);
  }
  return times;
}

// Empty: right.
std::string judge_time(const offset_record& answer, const std::vector<std::int64_t>& times) {
  std::int64_t first = 0;
  while (first < std::ssize(times) && times[static_cast<std::size_t>(first)] < answer.timestamp) ++first;
  if (answer.offset == -1) {
    return first < answer.floor ? fmt::format("none, and offset {} was visible", first) : std::string();
  }
  if (answer.offset >= std::ssize(times)) return fmt::format("offset {}, beyond the final log", answer.offset);
  if (first != answer.offset) return fmt::format("offset {}, a scan says {}", answer.offset, first);
  if (times[static_cast<std::size_t>(first)] != answer.answered_timestamp) return "the wrong timestamp";
  return {};
}

std::string judge_max(const offset_record& answer, const std::vector<std::int64_t>& times) {
  if (answer.offset == -1) return answer.floor > 0 ? "none, and there were records" : std::string();
  if (answer.offset >= std::ssize(times)) return "an offset beyond the log";
  if (times[static_cast<std::size_t>(answer.offset)] != answer.answered_timestamp) return "the wrong timestamp";
  // A log that has become shorter than the floor is the business of other checkers.
  const std::int64_t end = std::min<std::int64_t>(std::max(answer.floor, answer.offset), std::ssize(times));
  for (std::int64_t i = 0; i < end; ++i) {
    if (times[static_cast<std::size_t>(i)] > answer.answered_timestamp) {
      return fmt::format("offset {}, and {} has a larger time", answer.offset, i);
    }
  }
  return {};
}

std::string judge(const offset_record& answer, const std::vector<std::int64_t>& times) {
  if (answer.timestamp == earliest) {
    return answer.offset == 0 ? std::string() : fmt::format("begins at {}", answer.offset);
  }
  if (answer.timestamp == latest) {
    if (answer.offset < answer.floor) return fmt::format("ends at {}, and {} was known", answer.offset, answer.floor);
    if (answer.offset > std::ssize(times)) return fmt::format("ended at {}, beyond the final log", answer.offset);
    return {};
  }
  return answer.timestamp == max_timestamp ? judge_max(answer, times) : judge_time(answer, times);
}

}  // namespace

void check_list_offsets(const run_record& run, violations& found) {
  std::map<topic_partition_id, std::vector<std::int64_t>> times;
  for (const auto& [target, log] : run.final_read) times[target] = times_of(log);
  for (const offset_record& answer : run.log.offset_answers()) {
    if (answer.code != protocol::error_code::none) continue;
    const std::string wrong = judge(answer, times[answer.target]);
    if (!wrong.empty()) {
      found.push_back({"list-offsets",
                       fmt::format("{} asked for {}: {}", to_string(answer.target, run.log), answer.timestamp, wrong)});
    }
  }
}

}  // namespace braidmq::sim

#include <algorithm>

#include "checkers/checkers.hpp"

namespace braidmq::sim {

violations check_all(const run_record& run) {
  violations found;
  for (const auto& [checker, what] : run.log.violations()) found.push_back({checker, what});
  check_content(run, found);
  check_durability(run, found);
  check_producers(run, found);
  check_visibility(run, found);
  check_atomicity(run, found);
  check_list_offsets(run, found);
  check_topics(run, found);
  check_churn(run, found);
  check_retention(run, found);
  check_recovery(run, found);
  return found;
}

std::int64_t last_start(const run_record& run, const topic_partition_id& target) {
  std::int64_t start = run.log.known_start(target);
  for (const partition_content* content : {&run.final_read, &run.after_recovery}) {
    if (const auto last = content->find(target); last != content->end()) start = std::max(start, last->second.start);
  }
  // Of a topic that was deleted nobody knows it.
  const bool is_known = run.kept.everything() || run.final_read.contains(target);
  return is_known ? start : std::max(start, run.log.known_end(target) + 1);
}

// An entry's time is at least what the clock showed when it was proposed, and whoever looks for idle producers goes by
// the clock or the time of an entry.
bool may_be_forgotten(const run_record& run, const sent_batch& written, std::int64_t until_ms) {
  return run.log.written_from_ms(written) + run.producer_expiration_ms <= until_ms;
}

bool may_stand_twice(const run_record& run, const sent_batch& batch) {
  return batch.producer_id >= 0 && batch.attempts.size() > 1 &&
         may_be_forgotten(run, batch, run.log.tried_until_ms(batch));
}

std::string to_string(const topic_partition_id& target, const history& log) {
  for (const auto& [name, topic] : log.topics()) {
    if (topic.id == target.topic) return fmt::format("{}-{}", name, target.partition);
  }
  if (const churned_topic* churned = log.churned(target.topic)) {
    return fmt::format("{} ({})-{}", churned->name, churned->id, target.partition);
  }
  return fmt::format("{}", target);
}

}  // namespace braidmq::sim

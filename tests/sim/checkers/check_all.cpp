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

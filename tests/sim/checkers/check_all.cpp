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
  check_recovery(run, found);
  return found;
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

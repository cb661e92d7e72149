// A topic that was acknowledged exists for ever, with one id and its partitions.
#include "checkers/checkers.hpp"

namespace braidmq::sim {

void check_topics(const run_record& run, violations& found) {
  const auto& topics = run.log.topics();
  for (const metadata_record& answer : run.log.metadata_answers()) {
    const auto topic = topics.find(answer.name);
    if (topic == topics.end()) continue;
    const bool unknown = answer.code == protocol::error_code::unknown_topic_or_partition;
    if (unknown && answer.was_known) {
      found.push_back({"topics", fmt::format("topic {} was acknowledged and is not known", answer.name)});
    }
    if (answer.code != protocol::error_code::none) continue;
    if (!answer.id.is_zero() && answer.id != topic->second.id) {
      found.push_back({"topics", fmt::format("topic {} has changed its id", answer.name)});
    }
    if (answer.partitions != topic->second.partitions) {
      found.push_back({"topics", fmt::format("topic {} has {} partitions, and was made with {}", answer.name,
                                             answer.partitions, topic->second.partitions)});
    }
  }
  for (const auto& [name, topic] : topics) {
    for (std::int32_t p = 0; p < topic.partitions; ++p) {
      if (!run.final_read.contains({topic.id, model::partition_index(p)})) {
        found.push_back({"topics", fmt::format("partition {}-{} could not be read at the end", name, p)});
      }
    }
  }
}

}  // namespace braidmq::sim

// What is deleted is gone: no answer shows it after the deletion was acknowledged, over restarts too. What was never
// asked to be deleted stays. Partitions only grow, and only as somebody asked. What is made again under a name has
// another id and begins at offset 0 with records of its own (check_content and check_durability say that of every id).
#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

void check_sighting(const churn_sighting& seen, const history& log, violations& found) {
  const churned_topic& topic = *log.churned(seen.id);
  const auto report = [&](const std::string& what) {
    found.push_back({"churn", fmt::format("{} ({}) {}", topic.name, topic.id, what)});
  };
  if (seen.partitions == 0) {
    if (topic.delete_asked == 0 || topic.delete_asked > seen.answered) report("is not listed, and nobody deleted it");
    return;
  }
  // Another broker than the one that was asked may hear of it a little later.
  const bool is_known_to_all = log.brokers() == 1;
  if (is_known_to_all && topic.delete_acknowledged != 0 && topic.delete_acknowledged < seen.asked) {
    report("was deleted, and is listed");
  }
  if (seen.partitions < seen.least) report(fmt::format("has {} partitions, and had {}", seen.partitions, seen.least));
  if (seen.partitions > seen.most)
    report(fmt::format("has {} partitions, {} were asked for", seen.partitions, seen.most));
}

}  // namespace

void check_churn(const run_record& run, violations& found) {
  for (const churn_sighting& seen : run.log.sightings()) check_sighting(seen, run.log, found);
  for (const fetch_record& fetch : run.log.fetches()) {
    for (const fetched_partition& one : fetch.partitions) {
      const churned_topic* topic = run.log.churned(one.target.topic);
      if (topic == nullptr || one.code != protocol::error_code::none) continue;
      if (fetch.asked_of_leader && topic->delete_acknowledged != 0 && topic->delete_acknowledged < fetch.asked) {
        found.push_back({"churn", fmt::format("{} was deleted, and is read", to_string(one.target, run.log))});
      }
    }
  }
  for (const sent_batch& batch : run.log.batches()) {
    const churned_topic* topic = run.log.churned(batch.target.topic);
    if (topic == nullptr || topic->delete_acknowledged == 0) continue;
    for (const attempt& one : batch.attempts) {
      if (one.answered != 0 && one.code == protocol::error_code::none && one.asked > topic->delete_acknowledged) {
        found.push_back({"churn", fmt::format("{} was deleted, and is written to", to_string(batch.target, run.log))});
      }
    }
  }
  for (const auto& [id, topic] : run.log.all_churned()) {
    for (std::int32_t p = 0; topic.delete_asked == 0 && p < topic.partitions; ++p) {
      const topic_partition_id target{id, model::partition_index(p)};
      if (run.final_read.contains(target)) continue;
      found.push_back({"churn", fmt::format("{} could not be read at the end", to_string(target, run.log))});
    }
  }
}

}  // namespace braidmq::sim

// D1 and L4: whatever was acknowledged is in the final read, at the offset that the answer named. D5: what was refused
// for good never appears. Every record appears at most once, however often its batch was sent; but when its producer
// may have been forgotten in between, once for each try.
#include <algorithm>
#include <map>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

struct place {
  topic_partition_id target;
  std::int64_t offset;
};

}  // namespace

void check_durability(const run_record& run, violations& found) {
  const history& log = run.log;
  const auto report = [&](const std::string& what) { found.push_back({"durability", what}); };
  std::map<record_name, std::vector<place>> places;
  for (const auto& [target, batches] : run.final_read) {
    for (const seen_batch_ptr& batch : batches) {
      std::int64_t offset = batch->base;
      for (const seen_record& record : batch->records) {
        std::vector<place>& known = places[record.name];
        const sent_batch& sent = log.batches()[record.name.batch];
        if (!known.empty() && (!may_stand_twice(run, sent) || known.size() == sent.attempts.size())) {
          report(fmt::format("record {}-{} stands at offset {} and again at {} of {}", record.name.batch,
                             record.name.place, known.back().offset, offset, to_string(target, log)));
        }
        known.push_back({target, offset});
        ++offset;
      }
    }
  }
  for (batch_number number = 0; number < log.batches().size(); ++number) {
    const sent_batch& batch = log.batches()[number];
    const attempt* acknowledged = batch.acknowledged();
    const auto last_seen = run.final_read.find(batch.target);
    const bool was_let_go = acknowledged != nullptr && last_seen != run.final_read.end() &&
                            acknowledged->base + batch.records <= last_seen->second.start;
    std::uint32_t present = 0;
    for (std::uint32_t i = 0; i < batch.records; ++i) {
      const auto found_at = places.find({number, i});
      if (found_at == places.end()) continue;
      ++present;
      const std::vector<place>& at = found_at->second;
      if (std::ranges::any_of(at, [&](const place& one) { return one.target != batch.target; })) {
        report(fmt::format("batch {} is in a partition of others", number));
      }
      const bool only_again = was_let_go && may_stand_twice(run, batch);
      if (acknowledged != nullptr && !only_again &&
          std::ranges::find(at, acknowledged->base + i, &place::offset) == at.end()) {
        report(fmt::format("record {}-{} of {} was acknowledged at offset {} and stands at {}", number, i,
                           to_string(batch.target, log), acknowledged->base + i, at.front().offset));
      }
    }
    if (present != 0 && present != batch.records) {
      report(fmt::format("batch {}: {} of {} records are there", number, present, batch.records));
    }
    const bool went_with_its_topic = log.may_be_deleted(batch.target.topic) && !run.final_read.contains(batch.target);
    if (acknowledged != nullptr && present == 0 && !went_with_its_topic && !was_let_go) {
      report(fmt::format("batch {} of {}, acknowledged at offset {}, is lost", number, to_string(batch.target, log),
                         acknowledged->base));
    }
    if (acknowledged == nullptr && batch.surely_refused() && present != 0) {
      report(fmt::format("batch {} of {} was refused and is there", number, to_string(batch.target, log)));
    }
  }
}

}  // namespace braidmq::sim

// L1: an offset has one content for ever, over all reads of all lives. L2: offsets are dense. L3: leader epochs never
// fall along a log. And what anybody has ever read is still there at the end.
#include <map>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

using by_base = std::map<std::int64_t, seen_batch_ptr>;

class content_check {
 public:
  content_check(const run_record& run, violations& found) : run_(run), found_(found) {}

  void see(const topic_partition_id& target, const seen_batch_ptr& batch) {
    const auto [at, added] = seen_[target].emplace(batch->base, batch);
    if (!added) {
      if (at->second->hash != batch->hash) report(target, batch->base, "has had two contents");
      return;
    }
    if (at != seen_[target].begin() && std::prev(at)->second->end() > batch->base) {
      report(target, batch->base, "lies inside of an earlier batch");
    }
    if (const auto next = std::next(at); next != seen_[target].end() && next->second->base < batch->end()) {
      report(target, next->second->base, "lies inside of an earlier batch");
    }
  }

  // One answer: whole batches in order, without a gap, around the offset that was asked for.
  void check_answer(const fetched_partition& answer) {
    std::int64_t expected = -1;
    for (const seen_batch_ptr& batch : answer.batches) {
      see(answer.target, batch);
      if (expected == -1 && (batch->base > answer.from || batch->end() <= answer.from)) {
        report(answer.target, answer.from,
               fmt::format("was asked for and the batch {} to {} came", batch->base, batch->end() - 1));
      }
      if (expected != -1 && batch->base != expected) report(answer.target, expected, "is missing in an answer");
      expected = batch->end();
    }
    if (answer.code == protocol::error_code::none && expected > answer.visible_end) {
      report(answer.target, expected - 1, "was shown beyond the high watermark");
    }
  }

  // Who had it written, and when.
  std::string tries_of(const seen_batch& batch) const {
    const auto number = batch.records.empty() ? run_.log.batches().size() : batch.records.front().name.batch;
    if (number >= run_.log.batches().size()) return {};
    std::string words;
    for (const attempt& one : run_.log.batches()[number].attempts) {
      words += fmt::format("; asked at {} on connection {}, answered at {} with {}", one.asked, one.connection,
                           one.answered, static_cast<int>(one.code));
    }
    return words;
  }

  void check_log(const topic_partition_id& target, const seen_log& log) {
    std::int64_t expected = log.start;
    std::int32_t epoch = -1;
    for (const seen_batch_ptr& batch : log) {
      see(target, batch);
      if (batch->base != expected) report(target, expected, fmt::format("is missing, {} follows", batch->base));
      if (batch->epoch < epoch) report(target, batch->base, fmt::format("has epoch {} after {}", batch->epoch, epoch));
      epoch = batch->epoch;
      expected = batch->end();
    }
    for (const auto& [base, batch] : seen_[target]) {
      if (batch->end() > expected) report(target, base, "was read once and is gone" + tries_of(*batch));
    }
  }

 private:
  void report(const topic_partition_id& target, std::int64_t offset, const std::string& what) {
    found_.push_back({"content", fmt::format("{} offset {} {}", to_string(target, run_.log), offset, what)});
  }

  const run_record& run_;
  violations& found_;
  std::map<topic_partition_id, by_base> seen_;
};

}  // namespace

void check_content(const run_record& run, violations& found) {
  content_check check(run, found);
  for (const fetch_record& fetch : run.log.fetches()) {
    for (const fetched_partition& answer : fetch.partitions) check.check_answer(answer);
  }
  for (const auto& [target, log] : run.final_read) check.check_log(target, log);
}

}  // namespace braidmq::sim

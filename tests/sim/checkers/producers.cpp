// P1: in each partition the batches of a producer stand once, in the order of their sequences, without a gap. P2: a
// repetition is answered with the first offset. P3: no batch is called out of order when all before it are
// acknowledged. Requests of one connection are written in their order, also without sequences.
#include <map>
#include <set>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

void check_sequences(const run_record& run, violations& found) {
  for (const auto& [target, log] : run.final_read) {
    std::map<std::int64_t, std::int32_t> next;  // by producer
    for (const seen_batch_ptr& batch : log) {
      if (batch->records.empty()) continue;
      const sent_batch& sent = run.log.batches()[batch->records.front().name.batch];
      if (sent.producer_id < 0) continue;
      const auto [expected, first] = next.emplace(sent.producer_id, log.start > 0 ? sent.sequence : 0);
      if (sent.sequence != expected->second) {
        found.push_back({"producers", fmt::format("{} offset {}: producer {} has sequence {} where {} is due",
                                                  to_string(target, run.log), batch->base, sent.producer_id,
                                                  sent.sequence, expected->second)});
      }
      expected->second = sent.sequence + static_cast<std::int32_t>(sent.records);
    }
  }
}

void check_answers(const run_record& run, violations& found) {
  for (batch_number number = 0; number < run.log.batches().size(); ++number) {
    const sent_batch& batch = run.log.batches()[number];
    const attempt* first = batch.acknowledged();
    for (const attempt& one : batch.attempts) {
      if (one.answered == 0) continue;
      if (one.code == protocol::error_code::none && one.base != first->base) {
        found.push_back({"producers", fmt::format("batch {} was acknowledged at offset {} and again at {}", number,
                                                  first->base, one.base)});
      }
      const bool out_of_order = one.code == protocol::error_code::out_of_order_sequence_number;
      if (out_of_order && one.predecessors_acknowledged) {
        found.push_back({"producers", fmt::format("batch {} (producer {}, sequence {}) was called out of order, with "
                                                  "all before it acknowledged",
                                                  number, batch.producer_id, batch.sequence)});
      }
    }
  }
}

// Batches that were sent once: of one connection and partition they stand in the order of sending.
void check_connection_order(const run_record& run, violations& found) {
  struct last_seen {
    moment asked = 0;
    std::int64_t offset = -1;
  };
  for (const auto& [target, log] : run.final_read) {
    std::map<std::uint64_t, last_seen> connections;
    for (const seen_batch_ptr& batch : log) {
      if (batch->records.empty()) continue;
      const sent_batch& sent = run.log.batches()[batch->records.front().name.batch];
      if (sent.attempts.size() != 1) continue;
      last_seen& last = connections[sent.attempts.front().connection];
      if (sent.attempts.front().asked < last.asked) {
        found.push_back({"producers", fmt::format("{} offset {} was sent before offset {} on the same connection",
                                                  to_string(target, run.log), batch->base, last.offset)});
      }
      last = {sent.attempts.front().asked, batch->base};
    }
  }
}

}  // namespace

void check_producers(const run_record& run, violations& found) {
  check_sequences(run, found);
  check_answers(run, found);
  check_connection_order(run, found);
}

}  // namespace braidmq::sim

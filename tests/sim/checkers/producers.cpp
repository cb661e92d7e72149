// P1: in each partition the batches of a producer stand once, in the order of their sequences, without a gap. P2: a
// repetition is answered with the first offset. P3: no batch is called out of order when all before it are
// acknowledged. Requests of one connection are written in their order, also without sequences.
//
// A partition that may have forgotten the producer, because it was idle for long, takes any sequence as its first one:
// then P1 and P2 begin anew. Whoever was not idle for so long is not forgotten.
#include <map>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

void check_sequences(const run_record& run, violations& found) {
  struct last_batch {
    std::int32_t next = 0;
    const sent_batch* sent = nullptr;
  };
  for (const auto& [target, log] : run.final_read) {
    std::map<std::int64_t, last_batch> producers;
    for (const seen_batch_ptr& batch : log) {
      if (batch->records.empty()) continue;
      const sent_batch& sent = run.log.batches()[batch->records.front().name.batch];
      if (sent.producer_id < 0) continue;
      last_batch& before = producers.try_emplace(sent.producer_id).first->second;
      const bool may_start_anywhere =
          before.sent == nullptr ? log.start > 0 : may_be_forgotten(run, *before.sent, run.log.tried_until_ms(sent));
      if (sent.sequence != before.next && !may_start_anywhere) {
        found.push_back({"producers", fmt::format("{} offset {}: producer {} has sequence {} where {} is due",
                                                  to_string(target, run.log), batch->base, sent.producer_id,
                                                  sent.sequence, before.next)});
      }
      before = {sent.sequence + static_cast<std::int32_t>(sent.records), &sent};
    }
  }
}

void check_answers(const run_record& run, violations& found) {
  std::map<std::pair<topic_partition_id, std::int64_t>, const sent_batch*> predecessors;
  for (batch_number number = 0; number < run.log.batches().size(); ++number) {
    const sent_batch& batch = run.log.batches()[number];
    if (batch.attempts.empty()) continue;
    const attempt* first = batch.acknowledged();
    const sent_batch* before = std::exchange(predecessors[{batch.target, batch.producer_id}], &batch);
    for (const attempt& one : batch.attempts) {
      if (one.answered == 0) continue;
      if (one.code == protocol::error_code::none && one.base != first->base &&
          !may_be_forgotten(run, batch, one.answered_by_wall_ms)) {
        found.push_back({"producers", fmt::format("batch {} was acknowledged at offset {} and again at {}", number,
                                                  first->base, one.base)});
      }
      const bool out_of_order = one.code == protocol::error_code::out_of_order_sequence_number;
      // Of pipelined batches that a partition without a memory of the producer gets, a later one may be the first.
      const bool is_excused = before != nullptr && may_be_forgotten(run, *before, one.answered_by_wall_ms);
      if (out_of_order && one.predecessors_acknowledged && !is_excused) {
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

// What must hold of every run, each in a file of its own, judged by the history and the final reads alone. The names in
// brackets are the project's invariants: L log, D durability, P idempotent producers, A atomicity, X recovery.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history.hpp"

namespace braidmq::sim {

// A partition as the last reader found it, from its start to its end.
class seen_log {
 public:
  std::int64_t start = 0;
  std::vector<seen_batch_ptr> batches;

  std::int64_t end_offset() const { return batches.empty() ? start : batches.back()->end(); }
  auto begin() const { return batches.begin(); }
  auto end() const { return batches.end(); }
};

using partition_content = std::map<topic_partition_id, seen_log>;

// What of a partition the broker has to keep; none: all of it.
struct kept_records {
  std::optional<std::uint64_t> size_bytes;
  std::optional<std::int64_t> age_ms;
  bool everything() const { return !size_bytes && !age_ms; }
};

struct run_record {
  const history& log;
  kept_records kept;
  partition_content final_read;      // everything that is kept, when the faults were over
  partition_content after_recovery;  // the same after further recoveries, some of them interrupted
  // A producer that has not written to a partition for so long may be forgotten there, and no other one.
  std::int64_t producer_expiration_ms = 0;
};

struct violation {
  std::string checker;
  std::string what;
};
using violations = std::vector<violation>;

void check_content(const run_record& run, violations& found);       // L1, L2, L3, everything seen stays
void check_durability(const run_record& run, violations& found);    // D1, L4, D5, each record at most once
void check_producers(const run_record& run, violations& found);     // P1, P2, P3, order of one connection
void check_visibility(const run_record& run, violations& found);    // A1, A2: a request's partitions together
void check_atomicity(const run_record& run, violations& found);     // A3: an atomic write whole or not at all
void check_list_offsets(const run_record& run, violations& found);  // L6, ends never fall
void check_topics(const run_record& run, violations& found);
void check_churn(const run_record& run, violations& found);      // deleted is gone, made again begins anew
void check_retention(const run_record& run, violations& found);  // L5
void check_recovery(const run_record& run, violations& found);   // X2

violations check_all(const run_record& run);

// Where a log differs from what it was before: empty if it does not, but for old records that were let go of since.
std::string difference(const seen_log& before, const seen_log& after);

// No start of the partition was ever above it.
std::int64_t last_start(const run_record& run, const topic_partition_id& target);

// Whether a partition may have forgotten the producer of `written`, one of its batches there, before something was
// judged when the broker's wall clock had shown at most `until_ms`.
bool may_be_forgotten(const run_record& run, const sent_batch& written, std::int64_t until_ms);
// Whether a repetition of the batch may be one to a partition that has forgotten its producer, and be written again.
bool may_stand_twice(const run_record& run, const sent_batch& batch);

std::string to_string(const topic_partition_id& target, const history& log);

}  // namespace braidmq::sim

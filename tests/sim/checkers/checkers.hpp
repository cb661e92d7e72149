// What must hold of every run, each in a file of its own, judged by the history and the final reads alone. The names in
// brackets are the project's invariants: L log, D durability, P idempotent producers, A atomicity, X recovery.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "history.hpp"

namespace braidmq::sim {

using partition_content = std::map<topic_partition_id, std::vector<seen_batch_ptr>>;

struct run_record {
  const history& log;
  partition_content final_read;      // everything, from the beginning, when the faults were over
  partition_content after_recovery;  // the same after further recoveries, some of them interrupted
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
void check_churn(const run_record& run, violations& found);     // deleted is gone, made again begins anew
void check_recovery(const run_record& run, violations& found);  // X2

violations check_all(const run_record& run);

std::string to_string(const topic_partition_id& target, const history& log);

}  // namespace braidmq::sim

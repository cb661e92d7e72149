// A3: an atomic write is there whole or not at all, at the end and after further recoveries, whatever its answers were;
// and its answers agree: all of its slices are acknowledged, or none is, with codes that no client takes for an
// invitation to send a part of it again.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

struct atomic_request {
  std::set<batch_number> batches;
  std::vector<protocol::error_code> codes;  // of those that were answered
};

std::map<std::uint64_t, atomic_request> atomic_requests(const history& log) {
  std::map<std::uint64_t, atomic_request> requests;
  for (batch_number number = 0; number < log.batches().size(); ++number) {
    for (const attempt& one : log.batches()[number].attempts) {
      if (!one.atomic) continue;
      atomic_request& request = requests[one.request];
      request.batches.insert(number);
      if (one.answered != 0) request.codes.push_back(one.code);
    }
  }
  return requests;
}

bool is_final(protocol::error_code code) {
  using enum protocol::error_code;
  constexpr std::array all = {operation_not_attempted, invalid_topic_exception,      record_list_too_large,
                              invalid_timestamp,       topic_authorization_failed,   invalid_request,
                              policy_violation,        unsupported_compression_type, invalid_record};
  return std::ranges::find(all, code) != all.end();
}

void check_answers(const std::map<std::uint64_t, atomic_request>& requests, violations& found) {
  for (const auto& [number, request] : requests) {
    if (request.codes.empty()) continue;
    const bool are_equal = std::ranges::all_of(request.codes, [&](auto code) { return code == request.codes.front(); });
    if (are_equal || std::ranges::all_of(request.codes, is_final)) continue;
    std::string codes;
    for (const auto code : request.codes) codes += " " + protocol::to_string(code);
    found.push_back({"atomicity", fmt::format("atomic request {} was answered{}", number, codes)});
  }
}

void check_content(const run_record& run, const std::map<std::uint64_t, atomic_request>& requests,
                   const partition_content& content, const char* when, violations& found) {
  std::set<batch_number> present;
  for (const auto& [target, batches] : content) {
    for (const seen_batch_ptr& batch : batches) {
      for (const seen_record& record : batch->records) present.insert(record.name.batch);
    }
  }
  // What is below a log's start was there, or may have been if nobody was told where.
  const auto was_let_go = [&](const sent_batch& batch) {
    const auto log = content.find(batch.target);
    if (log == content.end() || log->second.start == 0) return false;
    const attempt* acknowledged = batch.acknowledged();
    return acknowledged == nullptr || acknowledged->base < log->second.start;
  };
  std::set<batch_number> judged;  // repetitions have the same batches
  for (const auto& [number, request] : requests) {
    if (!judged.insert(*request.batches.begin()).second) continue;
    const batch_number* there = nullptr;
    const batch_number* missing = nullptr;
    for (const batch_number& batch : request.batches) {
      const topic_partition_id& target = run.log.batches()[batch].target;
      if (run.log.may_be_deleted(target.topic) && !content.contains(target)) continue;  // went with its topic
      if (!present.contains(batch) && was_let_go(run.log.batches()[batch])) continue;
      (present.contains(batch) ? there : missing) = &batch;
    }
    if (there == nullptr || missing == nullptr) continue;
    found.push_back(
        {"atomicity", fmt::format("of atomic request {}, {}: batch {} of {} is there, batch {} of {} is not", number,
                                  when, *there, to_string(run.log.batches()[*there].target, run.log), *missing,
                                  to_string(run.log.batches()[*missing].target, run.log))});
  }
}

}  // namespace

void check_atomicity(const run_record& run, violations& found) {
  const auto requests = atomic_requests(run.log);
  check_answers(requests, found);
  // A run that broke off has read nothing.
  if (!run.final_read.empty()) check_content(run, requests, run.final_read, "at the end", found);
  if (!run.after_recovery.empty()) check_content(run, requests, run.after_recovery, "after recovery", found);
}

}  // namespace braidmq::sim

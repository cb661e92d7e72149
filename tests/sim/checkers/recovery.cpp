// X2: recovery changes nothing. What was read before and after further crashes and starts, some of them interrupted, is
// the same byte for byte, but for old records that were let go of in between.
#include <algorithm>

#include "checkers/checkers.hpp"

namespace braidmq::sim {

std::string difference(const seen_log& before, const seen_log& after) {
  const auto hash = [](const seen_batch_ptr& one) { return one->hash; };
  const auto kept = std::ranges::find_if(before, [&after](const auto& one) { return one->end() > after.start; });
  const auto [was, is] = std::ranges::mismatch(kept, before.end(), after.begin(), after.end(), {}, hash, hash);
  if (was == before.end() && is == after.end()) return {};
  return fmt::format("from batch {} on ({} batches from offset {} on, then {} from {} on)", was - before.begin(),
                     before.batches.size(), before.start, after.batches.size(), after.start);
}

void check_recovery(const run_record& run, violations& found) {
  for (const auto& [target, before] : run.final_read) {
    const auto after = run.after_recovery.find(target);
    if (after == run.after_recovery.end()) {
      found.push_back({"recovery", fmt::format("{} cannot be read any more", to_string(target, run.log))});
      continue;
    }
    const std::string differs = difference(before, after->second);
    if (differs.empty()) continue;
    found.push_back({"recovery", fmt::format("{} differs after recovery {}", to_string(target, run.log), differs)});
  }
}

}  // namespace braidmq::sim

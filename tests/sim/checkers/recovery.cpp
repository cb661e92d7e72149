// X2: recovery changes nothing. What was read before and after further crashes and starts, some of them interrupted, is
// the same byte for byte.
#include "checkers/checkers.hpp"

namespace braidmq::sim {

void check_recovery(const run_record& run, violations& found) {
  for (const auto& [target, before] : run.final_read) {
    const auto after = run.after_recovery.find(target);
    if (after == run.after_recovery.end()) {
      found.push_back({"recovery", fmt::format("{} cannot be read any more", to_string(target, run.log))});
      continue;
    }
    std::size_t same = 0;
    const auto& now = after->second;
    while (same < before.size() && same < now.size() && before[same]->hash == now[same]->hash) ++same;
    if (same == before.size() && same == now.size()) continue;
    found.push_back({"recovery", fmt::format("{} differs after recovery from batch {} on ({} batches, then {})",
                                             to_string(target, run.log), same, before.size(), now.size())});
  }
}

}  // namespace braidmq::sim

// A1, A2: the batches of one produce request come in one entry, and a fetch sees an entry in all its partitions or in
// none. A fetch also sees at least what anybody had been told before it was asked.
#include <map>

#include "checkers/checkers.hpp"

namespace braidmq::sim {
namespace {

struct slice {
  topic_partition_id target;
  std::int64_t offset;
};
using slices = std::vector<slice>;

// Requests all of whose batches were sent once and acknowledged: they were written together.
std::vector<slices> written_together(const history& log) {
  std::map<std::uint64_t, slices> requests;
  std::map<std::uint64_t, std::size_t> sizes;
  for (const sent_batch& batch : log.batches()) {
    if (batch.attempts.size() != 1 || batch.acknowledged() == nullptr) continue;
    const attempt& one = batch.attempts.front();
    requests[one.request].push_back({batch.target, one.base});
    sizes[one.request] = one.slices;
  }
  std::vector<slices> together;
  for (auto& [request, of] : requests) {
    if (of.size() > 1 && of.size() == sizes[request]) together.push_back(std::move(of));
  }
  return together;
}

}  // namespace

void check_visibility(const run_record& run, violations& found) {
  const std::vector<slices> together = written_together(run.log);
  for (const fetch_record& fetch : run.log.fetches()) {
    std::map<topic_partition_id, std::int64_t> ends;
    for (const fetched_partition& one : fetch.partitions) {
      if (one.code == protocol::error_code::none) {
        ends[one.target] = one.visible_end;
        if (one.visible_end < one.server_floor) {
          found.push_back(
              {"visibility", fmt::format("{} ends at {} for a fetch that was asked when {} was known",
                                         to_string(one.target, run.log), one.visible_end, one.server_floor)});
        }
      } else if (one.code == protocol::error_code::offset_out_of_range && one.from <= one.floor &&
                 one.from >= last_start(run, one.target)) {
        found.push_back({"visibility", fmt::format("{} offset {} is called out of range, and {} was known",
                                                   to_string(one.target, run.log), one.from, one.floor)});
      }
    }
    if (ends.size() < 2) continue;
    for (const slices& request : together) {
      const slice* shown = nullptr;
      const slice* hidden = nullptr;
      for (const slice& one : request) {
        const auto end = ends.find(one.target);
        if (end == ends.end()) continue;
        (one.offset < end->second ? shown : hidden) = &one;
      }
      if (shown != nullptr && hidden != nullptr) {
        found.push_back({"visibility", fmt::format("a fetch saw {} offset {} but not {} offset {} of the same request",
                                                   to_string(shown->target, run.log), shown->offset,
                                                   to_string(hidden->target, run.log), hidden->offset)});
      }
    }
  }
}

}  // namespace braidmq::sim

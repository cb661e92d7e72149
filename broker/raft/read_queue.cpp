#include "raft/read_queue.hpp"

#include <algorithm>

namespace braidmq::raft {

void read_queue::begin_round(index commit) {
  in_round_ = std::exchange(waiting_, {});
  ++round_;
  round_index_ = commit;
}

std::uint64_t read_queue::ask(std::uint64_t context) {
  asked_.push_back({next_id_++, context, 0});
  return asked_.back().id;
}

std::optional<std::uint64_t> read_queue::answered(std::uint64_t id) {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [id](const asked& a) { return a.id == id; });
  if (found == asked_.end()) return std::nullopt;
  const std::uint64_t context = found->context;
  asked_.erase(found);
  return context;
}

std::vector<std::uint64_t> read_queue::expire(std::uint32_t patience) {
  std::vector<std::uint64_t> lost;
  for (asked& a : asked_) {
    if (++a.ticks >= patience) lost.push_back(a.context);
  }
  std::erase_if(asked_, [patience](const asked& a) { return a.ticks >= patience; });
  return lost;
}

std::vector<std::uint64_t> read_queue::drop_all() {
  std::vector<std::uint64_t> lost;
  for (const std::vector<read>* reads : {&in_round_, &waiting_}) {
    for (const read& r : *reads) {
      if (r.from.is_none()) lost.push_back(r.context);
    }
  }
  for (const asked& a : asked_) lost.push_back(a.context);
  waiting_.clear();
  in_round_.clear();
  asked_.clear();
  return lost;
}

}  // namespace braidmq::raft

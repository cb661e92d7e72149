// A reader: fetches from several partitions at once, from their beginning on, from offsets that it saw, or from
// anywhere, also in the middle of batches; some of them wait long for more.
#include <algorithm>
#include <map>

#include "workload/client.hpp"
#include "workload/fetch_request.hpp"

namespace braidmq::sim {
namespace {

class fetcher final : public client {
 public:
  fetcher(workload_context& context, rng chance) : client(context, "fetcher", chance) {}

 private:
  void on_turn() override {
    if (in_flight() >= 3 || context().topics.topics.empty() || !take_operation()) return;
    fetch_wish wish;
    const bool everything = chance().chance(0.4);
    for (const known_topic& topic : context().topics.topics) {
      for (std::int32_t p = 0; p < topic.partitions; ++p) {
        if (!everything && chance().chance(0.5)) continue;
        wish.partitions.push_back({topic.name, {topic.id, model::partition_index(p)}, 0, 0});
      }
    }
    if (wish.partitions.empty()) return;
    if (chance().chance(0.5)) rotate(wish.partitions);
    for (wished_partition& one : wish.partitions) {
      one.from = draw_start(one.target);
      one.max_bytes = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(0, 300) : 1 << 20);
    }
    wish.min_bytes = static_cast<std::int32_t>(chance().chance(0.5) ? 1 : chance().between(0, 5'000));
    wish.max_bytes = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(0, 5'000) : 50 << 20);
    wish.max_wait_ms = static_cast<std::int32_t>(chance().chance(0.3) ? chance().between(0, 3'000) : 5);
    const bool by_id = std::ranges::any_of(wish.partitions, [](const auto& one) { return churns(one.topic); });
    const std::int16_t version = any_version(by_id ? first_fetch_version_with_ids : std::int16_t{4}, 18);
    auto call = std::make_shared<fetch_call>(log(), std::move(wish), connection_id());
    send(call->message(version), version, [this, call, version](const result<bytes>& body) {
      for (const auto& [target, next] : call->take(body, version)) positions_[target] = next;
    });
  }

  template <class List>
  void rotate(List& list) {
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(chance().below(list.size())), list.end());
  }

  std::int64_t draw_start(const topic_partition_id& target) {
    const std::int64_t end = log().known_end(target);
    if (chance().chance(0.6)) return positions_[target];
    if (chance().chance(0.05)) return end + chance().between(0, 3);
    return chance().between(0, end);
  }

  std::map<topic_partition_id, std::int64_t> positions_;
};

}  // namespace

std::unique_ptr<client> make_fetcher(workload_context& context, rng chance) {
  return std::make_unique<fetcher>(context, chance);
}

}  // namespace braidmq::sim

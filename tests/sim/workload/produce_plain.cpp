// A producer without an id: each batch is sent once, whatever becomes of it. Several requests may be under way.
#include <algorithm>
#include <set>

#include "workload/batches.hpp"
#include "workload/produce_request.hpp"

namespace braidmq::sim {
namespace {

class plain_producer final : public client {
 public:
  plain_producer(workload_context& context, rng chance)
      : client(context, "plain", chance), most_in_flight_(1 + this->chance().below(8)) {}

 private:
  void on_turn() override {
    if (in_flight() >= most_in_flight_ || context().topics.topics.empty() || !take_operation()) return;
    std::vector<outgoing_batch> batches;
    const std::size_t count = 1 + chance().below(chance().chance(0.3) ? 4 : 1);
    std::set<topic_partition_id> targets;
    for (std::size_t i = 0; i < count; ++i) {
      const known_topic& topic = *any_topic();
      const topic_partition_id target{topic.id, model::partition_index(static_cast<std::int32_t>(
                                                    chance().below(static_cast<std::uint64_t>(topic.partitions))))};
      if (targets.insert(target).second) batches.push_back(next_batch(topic, target));
    }
    // Partitions of one topic stand together in a request.
    std::sort(batches.begin(), batches.end(), [](const outgoing_batch& a, const outgoing_batch& b) {
      return std::pair(a.topic, a.number) < std::pair(b.topic, b.number);
    });
    const bool by_id = std::ranges::any_of(batches, [](const auto& one) { return churns(one.topic); });
    auto call = std::make_shared<produce_call>(log(), std::move(batches), ++context().requests_made, connection_id());
    const std::int16_t version = by_id ? produce_version_with_ids : any_version(7, produce_version_with_ids);
    const auto timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 50) : 30'000);
    if (chance().chance(0.1)) {
      send_unanswered(call->message(version, 0, timeout_ms), version);
      return;
    }
    const std::int16_t acks = chance().chance(0.2) ? 1 : -1;
    send(call->message(version, acks, timeout_ms), version,
         [call, version](const result<bytes>& body) { call->take(body, version); });
  }

  outgoing_batch next_batch(const known_topic& topic, const topic_partition_id& target) {
    sent_batch batch;
    batch.target = target;
    batch.records = static_cast<std::uint32_t>(1 + chance().below(chance().chance(0.2) ? 30 : 3));
    batch.client = connection_id();
    batch_plan plan;
    plan.records = batch.records;
    plan.number = log().add_batch(batch);
    plan.largest_value_bytes = context().drawn.largest_value_bytes;
    plan.timestamp_ms = context().cluster.wall_clocks().first + chance().between(-1000, 1000);
    plan.codec = draw_codec(chance());
    return {plan.number, topic.name, build_batch(plan), true};
  }

  std::size_t most_in_flight_;
};

}  // namespace

std::unique_ptr<client> make_plain_producer(workload_context& context, rng chance) {
  return std::make_unique<plain_producer>(context, chance);
}

}  // namespace braidmq::sim

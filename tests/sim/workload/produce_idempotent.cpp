// An idempotent producer as the large clients are: up to five requests under way, each with batches for several
// partitions; a batch whose outcome is not known is sent again with its sequence until it is. When something of a
// partition has failed, nothing more goes there until all that is under way is answered; then everything unresolved
// goes again, in order.
#include <algorithm>
#include <deque>
#include <map>

#include "protocol/generated/init_producer_id.hpp"
#include "workload/batches.hpp"
#include "workload/produce_request.hpp"

namespace braidmq::sim {
namespace {

constexpr std::size_t most_in_flight = 5;

class idempotent_producer final : public client {
 public:
  idempotent_producer(workload_context& context, rng chance) : client(context, "idempotent", chance) {}

  bool idle() const override { return client::idle() && unresolved_ == 0; }

 private:
  struct queued_batch {
    batch_plan plan;
    std::uint64_t ordinal = 0;  // in its partition
    std::string topic;
    bool under_way = false;
  };
  struct partition_state {
    std::deque<queued_batch> queue;  // unresolved, by sequence; those under way are a prefix
    std::int32_t next_sequence = 0;
    std::uint64_t next_ordinal = 0;
    bool failed = false;  // wait for what is under way, then start over
    bool begun = false;   // something has been acknowledged
    bool gone = false;    // its topic was deleted: nothing goes there any more

    std::size_t under_way() const {
      return static_cast<std::size_t>(std::ranges::count(queue, true, &queued_batch::under_way));
    }
  };

  void on_turn() override {
    if (producer_id_ < 0) return ask_for_id();
    if (context().topics.topics.empty()) return;
    if (finishing() || in_flight() >= most_in_flight) {
      if (in_flight() < most_in_flight) send_some();
      return;
    }
    if (chance().chance(0.002)) return give_up();
    if (unresolved_ < 40 && take_operation()) {
      const std::size_t count = 1 + chance().below(chance().chance(0.5) ? 4 : 1);
      for (std::size_t i = 0; i < count; ++i) queue_batch();
    }
    send_some();
  }

  void ask_for_id() {
    if (asking_ || finishing()) return;
    asking_ = true;
    const std::int16_t version = any_version(0, 5);
    protocol::init_producer_id_request request;
    request.transactional_id.reset();
    request.transaction_timeout_ms = 60'000;
    send(request, version, [this, version](const result<bytes>& body) {
      asking_ = false;
      if (!body) return;
      const auto answer = protocol::init_producer_id_response::decode(*body, version);
      if (!answer) return log().violation("protocol", answer.error().to_string());
      using enum protocol::error_code;
      if (answer->error_code == coordinator_not_available || answer->error_code == request_timed_out) return;
      if (answer->error_code != none) {
        return log().violation("producers",
                               fmt::format("no producer id: code {}", static_cast<int>(answer->error_code)));
      }
      producer_id_ = answer->producer_id.value();
      producer_epoch_ = answer->producer_epoch.value();
      log().note_producer_id(producer_id_);
    });
  }

  void queue_batch() {
    const known_topic& topic = *any_topic();
    const topic_partition_id target{topic.id, model::partition_index(static_cast<std::int32_t>(
                                                  chance().below(static_cast<std::uint64_t>(topic.partitions))))};
    partition_state& partition = partitions_[target];
    if (partition.gone) return;
    sent_batch batch;
    batch.target = target;
    batch.records = static_cast<std::uint32_t>(1 + chance().below(chance().chance(0.2) ? 20 : 3));
    batch.producer_id = producer_id_;
    batch.sequence = partition.next_sequence;
    queued_batch queued;
    queued.topic = topic.name;
    queued.ordinal = partition.next_ordinal++;
    queued.plan.records = batch.records;
    queued.plan.sequence = batch.sequence;
    queued.plan.producer_id = producer_id_;
    queued.plan.producer_epoch = producer_epoch_;
    queued.plan.number = log().add_batch(batch);
    queued.plan.largest_value_bytes = context().drawn.largest_value_bytes;
    queued.plan.timestamp_ms = context().cluster.wall_clocks().first + chance().between(-1000, 1000);
    queued.plan.codec = draw_codec(chance());
    partition.next_sequence += static_cast<std::int32_t>(batch.records);
    partition.queue.push_back(std::move(queued));
    ++unresolved_;
  }

  // One request with the next batch of several partitions.
  void send_some() {
    std::vector<outgoing_batch> batches;
    for (auto& [target, partition] : partitions_) {
      const std::size_t under_way = partition.under_way();
      if (partition.failed && under_way > 0) continue;
      partition.failed = false;
      if (under_way >= most_in_flight || under_way >= partition.queue.size()) continue;
      // A partition that does not know the producer takes any sequence as its first one, as Kafka does. If the first
      // batch were refused (topic not known yet) and the second one taken, the first could never be written.
      if (under_way > 0 && !partition.begun) continue;
      if (!finishing() && chance().chance(0.3)) continue;
      queued_batch& next = partition.queue[under_way];
      // The broker remembers five batches: whoever writes a sixth behind one of unknown outcome cannot learn of it.
      if (next.ordinal >= partition.queue.front().ordinal + most_in_flight) continue;
      next.under_way = true;
      batches.push_back({next.plan.number, next.topic, build_batch(next.plan), under_way == 0});
    }
    if (batches.empty()) return;
    const bool by_id = std::ranges::any_of(batches, [](const auto& one) { return churns(one.topic); });
    auto call = std::make_shared<produce_call>(log(), std::move(batches), ++context().requests_made, connection_id());
    const std::int16_t version = by_id ? produce_version_with_ids : any_version(7, produce_version_with_ids);
    const auto timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
    send(call->message(version, -1, timeout_ms), version, [this, call, version](const result<bytes>& body) {
      const auto answers = call->take(body, version);
      for (const slice_answer& one : answers) on_answer(one);
    });
  }

  void on_answer(const slice_answer& answer) {
    partition_state& partition = partitions_[log().batch(answer.number).target];
    const auto found = std::ranges::find_if(partition.queue,
                                            [&](const queued_batch& one) { return one.plan.number == answer.number; });
    if (found == partition.queue.end()) return;  // given up meanwhile
    if (answer.code == protocol::error_code::unknown_topic_id &&
        log().may_be_deleted(log().batch(answer.number).target.topic)) {
      unresolved_ -= partition.queue.size();
      partition.queue.clear();
      partition.gone = true;
      return;
    }
    if (says_not_written(answer.code) && !is_retriable(answer)) return give_up();
    // With all before it acknowledged: the partition had forgotten the producer, and has taken a later batch for the
    // first. Or it should not have (check_producers): what helps is another id, as in Java.
    const bool out_of_order = answer.code == protocol::error_code::out_of_order_sequence_number;
    if (out_of_order && found == partition.queue.begin()) return give_up();
    if (answer.code == protocol::error_code::none) {
      partition.queue.erase(found);
      partition.begun = true;
      --unresolved_;
      return;
    }
    found->under_way = false;
    partition.failed = true;
  }

  static bool is_retriable(const slice_answer& answer) {
    using enum protocol::error_code;
    return answer.code == unknown_topic_or_partition || answer.code == unknown_topic_id ||
           answer.code == network_exception || answer.code == out_of_order_sequence_number;
  }

  // A refusal that repeating does not change (a batch that is too large): go on under another id.
  void give_up() {
    producer_id_ = -1;
    partitions_.clear();
    unresolved_ = 0;
  }

  std::int64_t producer_id_ = -1;
  std::int16_t producer_epoch_ = -1;
  bool asking_ = false;
  std::size_t unresolved_ = 0;
  std::map<topic_partition_id, partition_state> partitions_;
};

}  // namespace

std::unique_ptr<client> make_idempotent_producer(workload_context& context, rng chance) {
  return std::make_unique<idempotent_producer>(context, chance);
}

}  // namespace braidmq::sim

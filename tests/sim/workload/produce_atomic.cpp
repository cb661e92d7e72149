// A producer of atomic writes: each request has tag 9001 and batches for several partitions. Some have a culprit among
// them (a partition or a topic that is not there, damaged bytes, a gap in the sequences) and must leave nothing behind.
// With a producer id, one set is under way at a time; one whose outcome is not known is sent again, as it was, until it
// is; one that was refused at its first try has used no sequence.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "protocol/generated/init_producer_id.hpp"
#include "workload/batches.hpp"
#include "workload/produce_request.hpp"

namespace braidmq::sim {
namespace {

constexpr std::size_t most_sets_in_flight = 5;  // without an id
constexpr std::int16_t first_version_with_tags = 9;

class atomic_producer final : public client {
 public:
  atomic_producer(workload_context& context, rng chance, bool idempotent)
      : client(context, "atomic", chance), idempotent_(idempotent) {}

  bool idle() const override { return client::idle() && !unresolved_; }

 private:
  struct atomic_set {
    std::vector<outgoing_batch> batches;
    std::map<topic_partition_id, std::int32_t> sequences_after;
    std::int16_t version = first_version_with_tags;
    bool under_way = false;
    int tries = 0;
  };

  void on_turn() override {
    if (context().topics.topics.empty()) return;
    if (!idempotent_) {
      if (in_flight() < most_sets_in_flight && take_operation()) send_set(next_set());
      return;
    }
    if (unresolved_) {
      if (!unresolved_->under_way) repeat();
      return;
    }
    if (producer_id_ < 0) return ask_for_id();
    if (!take_operation()) return;
    unresolved_ = next_set();
    repeat();
  }

  void ask_for_id() {
    if (asking_ || finishing()) return;
    asking_ = true;
    constexpr std::int16_t version = 4;
    protocol::init_producer_id_request request;
    request.transactional_id.reset();
    request.transaction_timeout_ms = 60'000;
    send(request, version, [this](const result<bytes>& body) {
      asking_ = false;
      if (!body) return;
      const auto answer = protocol::init_producer_id_response::decode(*body, version);
      if (!answer) return log().violation("protocol", answer.error().to_string());
      if (answer->error_code != protocol::error_code::none) return;  // asked again
      producer_id_ = answer->producer_id.value();
      producer_epoch_ = answer->producer_epoch.value();
      next_sequences_.clear();
      log().note_producer_id(producer_id_);
    });
  }

  atomic_set next_set() {
    atomic_set made;
    std::set<topic_partition_id> targets;
    bool by_id = false;
    bool may_make_gap = chance().chance(0.1);
    for (std::uint64_t n = chance().between(2, 5); n > 0; --n) {
      const known_topic& topic = *any_topic();
      const topic_partition_id target{topic.id, model::partition_index(static_cast<std::int32_t>(
                                                    chance().below(static_cast<std::uint64_t>(topic.partitions))))};
      if (!targets.insert(target).second) continue;
      by_id = by_id || topic.churns();
      // A partition that does not know the producer would take any sequence.
      const bool makes_gap = may_make_gap && next_sequences_[target] > 0;
      may_make_gap = may_make_gap && !makes_gap;
      made.batches.push_back(next_batch(topic.name, target, made.sequences_after, makes_gap ? 7 : 0));
    }
    if (chance().chance(0.3)) spoil(made);
    // Partitions of one topic stand together in a request.
    std::ranges::sort(made.batches, {}, [this](const outgoing_batch& one) {
      return std::tuple(one.topic, log().batch(one.number).target.topic, one.number);
    });
    made.version = by_id ? produce_version_with_ids : any_version(first_version_with_tags, produce_version_with_ids);
    return made;
  }

  // One of the batches, or one more, makes the broker refuse all.
  void spoil(atomic_set& set) {
    const std::uint64_t how = chance().below(3);
    if (how == 0) {
      auto& victim = set.batches[chance().below(set.batches.size())];
      byte_buffer damaged;
      damaged.append(victim.data.view());
      damaged.mutable_view()[damaged.size() - 1] ^= std::byte{1};
      victim.data = damaged.freeze();
      return;
    }
    const known_topic& topic = *any_topic();
    topic_partition_id target{topic.id, model::partition_index(topic.partitions + 1'000)};
    std::string name = topic.name;
    if (how == 1) {
      target = {model::topic_id(), model::partition_index(0)};
      target.topic.octets[0] = static_cast<std::uint8_t>(1 + chance().below(255));
      name = "nowhere";
    }
    std::map<topic_partition_id, std::int32_t> unused;
    set.batches.push_back(next_batch(name, target, unused, 0));
  }

  outgoing_batch next_batch(const std::string& topic, const topic_partition_id& target,
                            std::map<topic_partition_id, std::int32_t>& sequences_after, std::int32_t gap) {
    sent_batch batch;
    batch.target = target;
    batch.records = static_cast<std::uint32_t>(1 + chance().below(chance().chance(0.2) ? 20 : 3));
    batch.client = connection_id();
    batch_plan plan;
    if (idempotent_) {
      batch.producer_id = plan.producer_id = producer_id_;
      batch.sequence = plan.sequence = next_sequences_[target] + gap;
      plan.producer_epoch = producer_epoch_;
      sequences_after[target] = batch.sequence + static_cast<std::int32_t>(batch.records);
    }
    plan.records = batch.records;
    plan.number = log().add_batch(batch);
    plan.largest_value_bytes = context().drawn.largest_value_bytes;
    plan.timestamp_ms = context().cluster.wall_clocks().first + chance().between(-1000, 1000);
    plan.codec = draw_codec(chance());
    return {plan.number, topic, build_batch(plan), true};
  }

  std::int32_t any_timeout() {
    return static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
  }

  void send_set(const atomic_set& set) {
    auto call = std::make_shared<produce_call>(log(), set.batches, ++context().requests_made, connection_id(), true);
    send(call->message(set.version, -1, any_timeout()), set.version,
         [call, version = set.version](const result<bytes>& body) { call->take(body, version); });
  }

  void repeat() {
    atomic_set& set = *unresolved_;
    set.under_way = true;
    ++set.tries;
    auto call = std::make_shared<produce_call>(log(), set.batches, ++context().requests_made, connection_id(), true);
    send(call->message(set.version, -1, any_timeout()), set.version,
         [this, call, version = set.version](const result<bytes>& body) { on_answers(call->take(body, version)); });
  }

  void on_answers(const std::vector<slice_answer>& answers) {
    using enum protocol::error_code;
    unresolved_->under_way = false;
    if (answers.empty()) return;
    const protocol::error_code first = answers.front().code;
    if (first == none) {
      for (const auto& [target, sequence] : unresolved_->sequences_after) next_sequences_[target] = sequence;
      unresolved_.reset();
    } else if (first != network_exception && says_not_written(first)) {
      // Refused now (a topic was deleted meanwhile), and perhaps written by an earlier try: its sequences are not to be
      // used again.
      if (unresolved_->tries > 1) producer_id_ = -1;
      unresolved_.reset();
    }
  }

  bool idempotent_;
  std::int64_t producer_id_ = -1;
  std::int16_t producer_epoch_ = -1;
  bool asking_ = false;
  std::map<topic_partition_id, std::int32_t> next_sequences_;
  std::optional<atomic_set> unresolved_;
};

}  // namespace

std::unique_ptr<client> make_atomic_producer(workload_context& context, rng chance, bool idempotent) {
  return std::make_unique<atomic_producer>(context, chance, idempotent);
}

}  // namespace braidmq::sim

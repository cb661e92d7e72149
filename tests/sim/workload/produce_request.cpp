#include "workload/produce_request.hpp"

#include <map>
#include <utility>

namespace braidmq::sim {

produce_call::produce_call(history& log, std::vector<outgoing_batch> batches, std::uint64_t request,
                           std::uint64_t connection, bool atomic)
    : log_(log), batches_(std::move(batches)), atomic_(atomic) {
  for (const outgoing_batch& one : batches_) {
    auto& attempts = log_.batch(one.number).attempts;
    attempt made;
    made.batch = one.number;
    made.connection = connection;
    made.request = request;
    made.slices = batches_.size();
    made.atomic = atomic;
    made.asked = log_.next_moment();
    made.asked_wall_ms = log_.wall_ms();
    made.predecessors_acknowledged = one.predecessors_acknowledged;
    attempts_.push_back(attempts.size());
    attempts.push_back(made);
  }
}

protocol::produce_request produce_call::message(std::int16_t version, std::int16_t acks,
                                                std::int32_t timeout_ms) const {
  protocol::produce_request request;
  request.acks = acks;
  request.timeout_ms = timeout_ms;
  request.atomic = atomic_;
  for (const outgoing_batch& one : batches_) {
    const topic_partition_id& target = log_.batch(one.number).target;
    auto* topic = request.topic_data.empty() ? nullptr : &request.topic_data.back();
    const bool by_id = version >= produce_version_with_ids;
    if (topic == nullptr || (by_id ? topic->topic_id != target.topic : topic->name != one.topic)) {
      topic = &request.topic_data.emplace_back();
      if (by_id)
        topic->topic_id = target.topic;
      else
        topic->name = one.topic;
    }
    auto& partition = topic->partition_data.emplace_back();
    partition.index = target.partition;
    partition.records = one.data;
  }
  return request;
}

std::vector<slice_answer> produce_call::take(const result<bytes>& body, std::int16_t version) {
  std::vector<slice_answer> answers;
  if (!body) {
    for (const outgoing_batch& one : batches_) {
      answers.push_back({one.number, protocol::error_code::network_exception, -1});
    }
    return answers;
  }
  const auto response = protocol::produce_response::decode(*body, version);
  if (!response) {
    log_.violation("protocol", "produce answer: " + response.error().to_string());
    return answers;
  }
  std::vector<const protocol::produce_response::partition_produce_response*> partitions;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partition_responses) partitions.push_back(&partition);
  }
  if (partitions.size() != batches_.size()) {
    log_.violation("protocol", fmt::format("{} answers to {} batches", partitions.size(), batches_.size()));
    return answers;
  }
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    const batch_number number = batches_[i].number;
    if (partitions[i]->index != log_.batch(number).target.partition) {
      log_.violation("protocol", "produce answer with partitions in another order");
    }
    answers.push_back({number, partitions[i]->error_code, partitions[i]->base_offset.value()});
    log_.acknowledge(number, attempts_[i], partitions[i]->error_code, partitions[i]->base_offset.value());
  }
  return answers;
}

}  // namespace braidmq::sim

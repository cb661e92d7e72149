#include "metadata/machine.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace braidmq::metadata {
result<topic_image> altered(const topic_image& topic, const alter_topic& change, std::uint64_t index) {
  topic_image next = topic;
  if (change.partitions != 0 && change.partitions < topic.partitions) {
    return fail(errc::invalid_partitions, fmt::format("topic '{}' has {} partitions and cannot have {}: they only grow",
                                                      topic.name, topic.partitions, change.partitions));
  }
  if (change.partitions != 0) next.partitions = change.partitions;
  for (const auto& [name, value] : change.configs) {
    if (value)
      next.configs.insert_or_assign(name, *value);
    else
      next.configs.erase(name);
  }
  if (next.partitions != topic.partitions || next.configs != topic.configs) next.changed_index = index;
  return next;
}

outcome machine::apply(const raft::entry& entry) {
  BRAID_CHECK(entry.index.value() == image_->index() + 1, "entry {} after {}", entry.index, image_->index());
  const auto next = std::make_shared<image>(*image_);
  next->index_ = entry.index.value();
  outcome done;
  if (entry.kind == raft::entry_kind::command) {
    const auto command = decode(entry.payload);
    BRAID_CHECK(command.has_value(), "entry {} cannot be read: {}", entry.index, command.error().to_string());
    done = std::visit([&](const auto& one) { return apply_to(*next, one); }, *command);
  }
  image_ = next;
  return done;
}

outcome machine::apply_to(image& next, const found_cluster& command) {
  if (next.cluster_id_.is_zero()) next.cluster_id_ = command.cluster_id;
  return {};
}

outcome machine::apply_to(image& next, const register_broker& command) {
  // A claimed id stays with its first incarnation until an entry of its own releases it.
  const auto [claim, first] = next.brokers_.try_emplace(command.broker, command.registration);
  if (!first && claim->second.incarnation != command.registration.incarnation) {
    return {.error = errc::broker_id_claimed, .producer_ids = {}, .topic = {}};
  }
  claim->second = command.registration;
  return {};
}

outcome machine::apply_to(image& next, const create_topic& command) {
  const auto existing = next.by_name_.find(command.name);
  if (existing != next.by_name_.end())
    return {.error = errc::topic_exists, .producer_ids = {}, .topic = existing->second};
  if (next.find_collision(command.name) != nullptr)
    return {.error = errc::name_collision, .producer_ids = {}, .topic = {}};
  const auto topic = std::make_shared<const topic_image>(
      topic_image{command.name, command.id, command.partitions, command.configs, next.index_, next.index_});
  next.add(topic);
  next.topics_index_ = next.index_;
  return {.error = {}, .producer_ids = {}, .topic = topic};
}

outcome machine::apply_to(image& next, const allocate_producer_ids&) {
  BRAID_CHECK(next.next_producer_id_ <= std::numeric_limits<std::int64_t>::max() - producer_ids_per_block);
  const producer_id_block block{model::producer_id(next.next_producer_id_), producer_ids_per_block};
  next.next_producer_id_ += producer_ids_per_block;
  return {.error = {}, .producer_ids = block, .topic = {}};
}

outcome machine::apply_to(image& next, const alter_topic& command) {
  const auto found = next.by_id_.find(command.id);
  if (found == next.by_id_.end()) return {.error = errc::unknown_topic_id, .producer_ids = {}, .topic = {}};
  const std::shared_ptr<const topic_image> before = found->second;
  auto after = altered(*before, command, next.index_);
  if (!after) return {.error = after.error().code, .producer_ids = {}, .topic = before};
  if (after->changed_index == before->changed_index) return {.error = {}, .producer_ids = {}, .topic = before};
  const auto topic = std::make_shared<const topic_image>(std::move(*after));
  found->second = topic;
  next.by_name_.insert_or_assign(topic->name, topic);
  next.topics_index_ = next.index_;
  return {.error = {}, .producer_ids = {}, .topic = topic};
}

outcome machine::apply_to(image& next, const delete_topic& command) {
  const auto found = next.by_id_.find(command.id);
  if (found == next.by_id_.end()) return {.error = errc::unknown_topic_id, .producer_ids = {}, .topic = {}};
  const std::shared_ptr<const topic_image> topic = found->second;
  next.by_id_.erase(found);
  next.by_name_.erase(topic->name);
  next.by_metric_name_.erase(metric_name_of(topic->name));
  next.deletions_.emplace(topic->id, next.index_);
  next.topics_index_ = next.index_;
  return {.error = {}, .producer_ids = {}, .topic = topic};
}

outcome machine::apply_to(image& next, const forget_deletions& command) {
  std::erase_if(next.deletions_, [&command](const auto& one) { return one.second <= command.through; });
  return {};
}

}  // namespace braidmq::metadata

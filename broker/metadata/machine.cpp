#include "metadata/machine.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace braidmq::metadata {

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
  next.brokers_.try_emplace(command.broker, command.incarnation);
  return {};
}

outcome machine::apply_to(image& next, const create_topic& command) {
  const auto existing = next.by_name_.find(command.name);
  if (existing != next.by_name_.end())
    return {.error = errc::topic_exists, .producer_ids = {}, .topic = existing->second};
  if (next.find_collision(command.name) != nullptr)
    return {.error = errc::name_collision, .producer_ids = {}, .topic = {}};
  const auto topic = std::make_shared<const topic_image>(
      topic_image{command.name, command.id, command.partitions, command.configs, next.index_});
  next.by_name_.emplace(topic->name, topic);
  next.by_id_.emplace(topic->id, topic);
  std::string metric_name = topic->name;
  std::ranges::replace(metric_name, '.', '_');
  next.by_metric_name_.emplace(std::move(metric_name), topic->name);
  return {.error = {}, .producer_ids = {}, .topic = topic};
}

outcome machine::apply_to(image& next, const allocate_producer_ids&) {
  BRAID_CHECK(next.next_producer_id_ <= std::numeric_limits<std::int64_t>::max() - producer_ids_per_block);
  const producer_id_block block{model::producer_id(next.next_producer_id_), producer_ids_per_block};
  next.next_producer_id_ += producer_ids_per_block;
  return {.error = {}, .producer_ids = block, .topic = {}};
}

}  // namespace braidmq::metadata

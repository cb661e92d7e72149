#include "metadata/image.hpp"

#include <algorithm>

namespace braidmq::metadata {

std::string metric_name_of(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

void image::add(const std::shared_ptr<const topic_image>& topic) {
  by_name_.emplace(topic->name, topic);
  by_id_.emplace(topic->id, topic);
  by_metric_name_.emplace(metric_name_of(topic->name), topic->name);
}

const topic_image* image::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.get();
}

const topic_image* image::find(const model::topic_id& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

const topic_image* image::find_collision(std::string_view name) const {
  const auto found = by_metric_name_.find(metric_name_of(std::string(name)));
  if (found == by_metric_name_.end() || found->second == name) return nullptr;
  return find(found->second);
}

}  // namespace braidmq::metadata

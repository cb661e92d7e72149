#include "metadata/image.hpp"

#include <algorithm>

namespace braidmq::metadata {

const topic_image* image::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.get();
}

const topic_image* image::find(const model::topic_id& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

const topic_image* image::find_collision(std::string_view name) const {
  std::string metric_name(name);
  std::ranges::replace(metric_name, '.', '_');
  const auto found = by_metric_name_.find(metric_name);
  if (found == by_metric_name_.end() || found->second == name) return nullptr;
  return find(found->second);
}

}  // namespace braidmq::metadata

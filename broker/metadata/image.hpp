// What the metadata log says at one index. Immutable: an image is made once and shared by every thread that reads it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "metadata/registration.hpp"
#include "model/ids.hpp"

namespace braidmq::metadata {

struct topic_image {
  std::string name;
  model::topic_id id;
  std::int32_t partitions = 0;
  std::map<std::string, std::string> configs;
  std::uint64_t created_index = 0;  // of the entry that created it
  std::uint64_t changed_index = 0;  // of the last entry that changed partitions or configs, or created it
};

// The name as metrics have it: two topics must not be the same there.
std::string metric_name_of(std::string name);

class image {
 public:
  std::uint64_t index() const { return index_; }
  std::uint64_t topics_index() const { return topics_index_; }  // of the last entry that changed any topic
  const uuid& cluster_id() const { return cluster_id_; }        // zero: not founded yet
  const std::map<model::broker_id, broker_registration>& brokers() const { return brokers_; }
  std::int64_t next_producer_id() const { return next_producer_id_; }

  // Topics that were deleted, with the index of the entry, until every braid is known to have applied it.
  const std::map<model::topic_id, std::uint64_t>& deletions() const { return deletions_; }

  const std::map<std::string, std::shared_ptr<const topic_image>, std::less<>>& topics() const { return by_name_; }
  const topic_image* find(std::string_view name) const;
  const topic_image* find(const model::topic_id& id) const;
  // Another topic whose name differs only in '.' against '_'; null when there is none.
  const topic_image* find_collision(std::string_view name) const;

 private:
  friend class machine;
  friend class image_builder;  // of checkpoints

  // Of a name and an id that are not there.
  void add(const std::shared_ptr<const topic_image>& topic);

  std::uint64_t index_ = 0;
  std::uint64_t topics_index_ = 0;
  uuid cluster_id_;
  std::map<model::broker_id, broker_registration> brokers_;
  std::int64_t next_producer_id_ = 0;
  std::map<std::string, std::shared_ptr<const topic_image>, std::less<>> by_name_;
  std::unordered_map<model::topic_id, std::shared_ptr<const topic_image>> by_id_;
  std::map<model::topic_id, std::uint64_t> deletions_;
  std::map<std::string, std::string, std::less<>> by_metric_name_;  // '.' as '_' -> topic name
};

using image_ptr = std::shared_ptr<const image>;

}  // namespace braidmq::metadata

// The state that the metadata log makes. apply() is a function of entry and state alone; it never fails: a command that
// cannot be carried out has an outcome that says so, the same on every replica.
#pragma once

#include <variant>

#include "metadata/command.hpp"
#include "metadata/errc.hpp"
#include "metadata/image.hpp"
#include "raft/types.hpp"

namespace braidmq::metadata {

inline constexpr std::int64_t producer_ids_per_block = 1000;

struct producer_id_block {
  model::producer_id first;
  std::int64_t count = 0;
};

struct outcome {
  std::error_code error;
  producer_id_block producer_ids;            // allocate_producer_ids
  std::shared_ptr<const topic_image> topic;  // create_topic: the new topic, or the one that was there
};

class machine {
 public:
  machine() : image_(std::make_shared<image>()) {}

  outcome apply(const raft::entry& entry);
  image_ptr current() const { return image_; }

 private:
  outcome apply_to(image& next, const found_cluster& command);
  outcome apply_to(image& next, const register_broker& command);
  outcome apply_to(image& next, const create_topic& command);
  outcome apply_to(image& next, const allocate_producer_ids& command);

  image_ptr image_;
};

}  // namespace braidmq::metadata

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
  producer_id_block producer_ids;  // allocate_producer_ids
  // create_topic: the new topic, or the one that was there; alter_topic: as it is now; delete_topic: as it was.
  std::shared_ptr<const topic_image> topic;
};

// What a change makes of a topic, or why it cannot be: the same words before it is proposed and when it is applied.
// Gives the topic itself when there is nothing to change.
result<topic_image> altered(const topic_image& topic, const alter_topic& change, std::uint64_t index);

class machine {
 public:
  // From a checkpoint's image, or (null) from nothing.
  explicit machine(image_ptr from = nullptr) : image_(from ? std::move(from) : std::make_shared<image>()) {}

  outcome apply(const raft::entry& entry);
  image_ptr current() const { return image_; }

 private:
  outcome apply_to(image& next, const found_cluster& command);
  outcome apply_to(image& next, const register_broker& command);
  outcome apply_to(image& next, const create_topic& command);
  outcome apply_to(image& next, const allocate_producer_ids& command);
  outcome apply_to(image& next, const alter_topic& command);
  outcome apply_to(image& next, const delete_topic& command);
  outcome apply_to(image& next, const forget_deletions& command);

  image_ptr image_;
};

}  // namespace braidmq::metadata

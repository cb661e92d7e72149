#include "model/ids.hpp"

namespace braidmq::model {

std::string to_string(const topic_partition_id& id) {
  return fmt::format("{}-{}", id.topic, id.partition);
}

}  // namespace braidmq::model

// What DescribeConfigs and IncrementalAlterConfigs can name (Kafka's ConfigResource.Type).
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace braidmq::server::handlers {

inline constexpr std::int8_t resource_topic = 2;
inline constexpr std::int8_t resource_broker = 4;

inline std::string no_such_resource(std::int8_t type) {
  return fmt::format("resources of type {} have no configs in this version of BraidMQ; topics (2) and brokers (4) have",
                     type);
}

}  // namespace braidmq::server::handlers

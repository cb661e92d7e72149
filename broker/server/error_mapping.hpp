// The only map from errors of ours to Kafka's error codes. Total: a test walks every value of every enum.
#pragma once

#include <system_error>

#include "protocol/errors.hpp"

namespace braidmq::server {

// none for success; UNKNOWN_SERVER_ERROR for a code that is not in the map.
protocol::error_code wire_error(const std::error_code& error);

// The same for a partition of a topic that the request named by id: one that is gone is unknown by its id, one that is
// not there yet is unknown as a partition.
protocol::error_code wire_error_by_id(const std::error_code& error, bool topic_is_known);

}  // namespace braidmq::server

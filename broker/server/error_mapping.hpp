// The only map from errors of ours to Kafka's error codes. Total: a test walks every value of every enum.
#pragma once

#include <system_error>

#include "protocol/errors.hpp"

namespace braidmq::server {

// none for success; UNKNOWN_SERVER_ERROR for a code that is not in the map.
protocol::error_code wire_error(const std::error_code& error);

}  // namespace braidmq::server

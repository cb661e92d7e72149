// What the bench asks of a broker beside the load: topics, and where their logs end.
//
// Blocking. Errors: kafka_client::errc, the broker's refusals in words.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "io/endpoint.hpp"

namespace braidmq::bench {

status create_topic(const io::endpoint& at, const std::string& name, std::int32_t partitions);

// The sum of the ends of all partitions: how many records were ever written to the topic.
result<std::int64_t> records_in(const io::endpoint& at, const std::string& topic, std::int32_t partitions);

}  // namespace braidmq::bench

// Writes records: those of one partition in one batch, all that one broker leads in one Produce request, acks=all. With
// `atomic` everything goes in one request that the broker applies whole or not at all (tagged field 9001).
//
// Nothing is repeated: without an idempotent producer a repetition may write twice. Errors: those of the client,
// invalid_request when a topic or partition is not there (named), unsupported when the cluster has not agreed on
// `braidmq.atomic.produce`, or when the partitions of an atomic write have several leaders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kafka_client/client.hpp"

namespace braidmq::kafka_client {

inline constexpr const char* atomic_produce_feature = "braidmq.atomic.produce";

struct outgoing_record {
  std::string topic;
  std::optional<std::int32_t> partition;  // none: by the key; without one, the same for all that have none
  std::optional<std::string> key;
  std::optional<std::string> value;  // none: a tombstone
};

// What became of the records of one partition.
struct written_slice {
  std::string topic;
  std::int32_t partition = 0;
  std::int32_t records = 0;
  protocol::error_code error = protocol::error_code::none;
  std::string message;     // the broker's words on the error
  model::offset base{-1};  // of the first record
};

struct produce_options {
  bool atomic = false;
  std::uint64_t keyless_choice = 0;  // any number: chooses the partition of records without a key
};

// One for each partition, in the order of their first record. The request may have been refused: look at each.
result<std::vector<written_slice>> produce(client& with, const std::vector<outgoing_record>& records,
                                           const produce_options& options);

}  // namespace braidmq::kafka_client

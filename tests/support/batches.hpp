// Record batches for tests, in one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/batch_builder.hpp"

namespace braidmq::sim {

inline bytes make_batch(const std::vector<std::string>& values, model::batch_options options = {},
                        std::int64_t timestamp_ms = 1000) {
  model::batch_builder builder(options);
  for (const std::string& value : values) builder.add("", value, timestamp_ms);
  auto built = builder.build();
  BRAID_CHECK(built.has_value());
  return *built;
}

inline model::batch_options idempotent(std::int64_t producer, std::int16_t epoch, std::int32_t sequence) {
  model::batch_options options;
  options.producer_id = model::producer_id(producer);
  options.producer_epoch = model::producer_epoch(epoch);
  options.base_sequence = model::sequence(sequence);
  return options;
}

inline model::topic_partition_id partition_of(std::uint8_t topic, std::int32_t partition) {
  uuid id;
  id.octets[0] = topic;
  return {id, model::partition_index(partition)};
}

}  // namespace braidmq::sim

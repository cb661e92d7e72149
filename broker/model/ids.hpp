// Identifiers of the Kafka model, each a type of its own, with the width that they have on the wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/strong_id.hpp"
#include "base/uuid.hpp"

namespace braidmq::model {

using offset = strong_id<struct offset_tag, std::int64_t>;  // position of a record in a partition
using partition_index = strong_id<struct partition_index_tag, std::int32_t>;
using broker_id = strong_id<struct broker_id_tag, std::int32_t>;
using leader_epoch = strong_id<struct leader_epoch_tag, std::int32_t>;      // -1: unknown
using producer_id = strong_id<struct producer_id_tag, std::int64_t>;        // -1: none
using producer_epoch = strong_id<struct producer_epoch_tag, std::int16_t>;  // -1: none
using sequence = strong_id<struct sequence_tag, std::int32_t>;              // wraps from 2^31-1 to 0; -1: none
using topic_id = uuid;

inline constexpr broker_id no_broker{-1};
inline constexpr leader_epoch no_epoch{-1};
inline constexpr producer_id no_producer{-1};

// A partition's identity for everything that is stored: names can be used again, ids cannot.
struct topic_partition_id {
  topic_id topic;
  partition_index partition;

  friend auto operator<=>(const topic_partition_id&, const topic_partition_id&) = default;
};
std::string to_string(const topic_partition_id& id);  // "id-partition"
std::optional<topic_partition_id> parse_topic_partition_id(std::string_view text);

}  // namespace braidmq::model

template <>
struct std::hash<braidmq::model::topic_partition_id> {
  std::size_t operator()(const braidmq::model::topic_partition_id& id) const noexcept {
    return std::hash<braidmq::uuid>{}(id.topic) * 31 + static_cast<std::size_t>(id.partition.value());
  }
};

template <>
struct fmt::formatter<braidmq::model::topic_partition_id> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const braidmq::model::topic_partition_id& id, Context& context) const {
    return fmt::formatter<std::string>::format(braidmq::model::to_string(id), context);
  }
};

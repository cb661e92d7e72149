#include "model/ids.hpp"

#include <charconv>
#include <system_error>

namespace braidmq::model {

std::string to_string(const topic_partition_id& id) {
  return fmt::format("{}-{}", id.topic, id.partition);
}

std::optional<topic_partition_id> parse_topic_partition_id(std::string_view text) {
  const std::size_t dash = text.rfind('-');  // an id may have some of its own
  if (dash == std::string_view::npos) return std::nullopt;
  const auto topic = uuid::parse(text.substr(0, dash));
  const std::string_view number = text.substr(dash + 1);
  std::int32_t partition = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), partition);
  if (!topic || code != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  const topic_partition_id id{*topic, partition_index(partition)};
  return to_string(id) == text ? std::optional(id) : std::nullopt;
}

}  // namespace braidmq::model

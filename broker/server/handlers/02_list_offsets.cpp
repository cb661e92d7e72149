// ListOffsets, versions 1 to 11: a time, or one of the special times below zero, each from its version on. Nothing is
// tiered: what is local begins where the log does (-4), what is remote (-5) or waits to become so (-6) does not exist.
// Both isolation levels see the same until there are transactions.
#include <algorithm>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::list_offsets_response;

constexpr std::int16_t first_version_with_leader_epoch = 4;

using offset_kind = braid::offset_query::kind;

struct special_time {
  std::int64_t timestamp;
  std::int16_t first_version;
  std::optional<offset_kind> asks;  // none: there is nothing of that kind
};
constexpr special_time special_times[] = {
    {-1, 1, offset_kind::latest},    // the end
    {-2, 1, offset_kind::earliest},  // the start
    {-3, 7, offset_kind::max_timestamp},
    {-4, 8, offset_kind::earliest},  // the start of what is local (KIP-405)
    {-5, 9, std::nullopt},           // the end of what is tiered (KIP-1005)
    {-6, 11, std::nullopt},          // the start of what will be tiered next
};

list_offsets_response::list_offsets_partition_response refused(model::partition_index partition, error_code code) {
  list_offsets_response::list_offsets_partition_response answer;
  answer.partition_index = partition;
  answer.error_code = code;
  return answer;
}

// `topic`: null when it is not known; lives as long as the image that the caller holds.
runtime::task<list_offsets_response::list_offsets_partition_response> find_one(
    request_ptr context, const metadata::topic_image* topic,
    protocol::list_offsets_request::list_offsets_partition asked) {
  const std::int32_t index = asked.partition_index.value();
  if (topic == nullptr || index < 0 || index >= topic->partitions) {
    co_return refused(asked.partition_index, error_code::unknown_topic_or_partition);
  }
  braid::offset_query query;
  query.target = {topic->id, asked.partition_index};
  query.current_epoch = asked.current_leader_epoch;
  query.what = offset_kind::at_timestamp;
  query.timestamp_ms = asked.timestamp;
  bool exists = true;
  if (asked.timestamp < 0) {
    const auto special = std::ranges::find(special_times, asked.timestamp, &special_time::timestamp);
    if (special == std::end(special_times) || context->version < special->first_version) {
      co_return refused(asked.partition_index, error_code::unsupported_version);
    }
    exists = special->asks.has_value();
    query.what = special->asks.value_or(offset_kind::latest);
  }
  auto ask = [query](braid::replica& braid, unique_function<void(braid::offset_answer)> done) {
    braid.find_offset(query, std::move(done));
  };
  const braid::offset_answer said = co_await on_braid<braid::offset_answer>(context, ask);
  auto answer = refused(asked.partition_index, wire_error(said.error));
  if (!exists) co_return answer;
  answer.offset = said.offset;
  answer.timestamp = said.timestamp_ms;
  if (context->version >= first_version_with_leader_epoch) answer.leader_epoch = said.epoch;
  co_return answer;
}

}  // namespace

answer_of<protocol::list_offsets_response> list_offsets(request_ptr context, protocol::list_offsets_request request) {
  context->accept();  // a read has no place in the order of writes
  list_offsets_response response;
  const metadata::image_ptr image = context->broker.image();
  for (const auto& topic : request.topics) {
    const std::size_t topic_place = response.topics.size();
    response.topics.emplace_back().name = topic.name;
    const metadata::topic_image* found = image->find(topic.name);
    for (const auto& partition : topic.partitions) {
      const auto answer = co_await find_one(context, found, partition);
      response.topics[topic_place].partitions.push_back(answer);
    }
  }
  co_return response;
}

}  // namespace braidmq::server::handlers

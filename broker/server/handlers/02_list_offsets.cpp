// ListOffsets, versions 1 to 7: earliest (-2), latest (-1), the record with the largest timestamp (-3, version 7), and
// the first record at or after a time. Both isolation levels see the same until there are transactions.
#include <algorithm>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::list_offsets_response;

constexpr std::int64_t latest = -1;
constexpr std::int64_t earliest = -2;
constexpr std::int64_t max_timestamp = -3;
constexpr std::int16_t first_version_with_leader_epoch = 4;
constexpr std::int16_t first_version_with_max_timestamp = 7;

std::optional<braid::offset_query> query_for(const model::topic_partition_id& target, std::int64_t timestamp_ms,
                                             model::leader_epoch epoch, std::int16_t version) {
  braid::offset_query query;
  query.target = target;
  query.current_epoch = epoch;
  if (timestamp_ms == latest) {
    query.what = braid::offset_query::kind::latest;
  } else if (timestamp_ms == earliest) {
    query.what = braid::offset_query::kind::earliest;
  } else if (timestamp_ms == max_timestamp && version >= first_version_with_max_timestamp) {
    query.what = braid::offset_query::kind::max_timestamp;
  } else if (timestamp_ms >= 0) {
    query.what = braid::offset_query::kind::at_timestamp;
    query.timestamp_ms = timestamp_ms;
  } else {
    return std::nullopt;
  }
  return query;
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
      list_offsets_response::list_offsets_partition_response answer;
      answer.partition_index = partition.partition_index;
      const std::int32_t index = partition.partition_index.value();
      if (found == nullptr || index < 0 || index >= found->partitions) {
        answer.error_code = error_code::unknown_topic_or_partition;
      } else {
        const auto query = query_for({found->id, partition.partition_index}, partition.timestamp,
                                     partition.current_leader_epoch, context->version);
        if (query) {
          auto ask = [query](braid::replica& braid, unique_function<void(braid::offset_answer)> done) {
            braid.find_offset(*query, std::move(done));
          };
          const braid::offset_answer said = co_await on_braid<braid::offset_answer>(context, ask);
          answer.error_code = wire_error(said.error);
          answer.offset = said.offset;
          answer.timestamp = said.timestamp_ms;
          if (context->version >= first_version_with_leader_epoch) answer.leader_epoch = said.epoch;
        } else {
          answer.error_code = error_code::unsupported_version;
        }
      }
      response.topics[topic_place].partitions.push_back(answer);
    }
  }
  co_return response;
}

}  // namespace braidmq::server::handlers

// OffsetForLeaderEpoch, versions 2 to 4: how a consumer that has met a new leader finds out whether what it has read is
// still there (KIP-320). Only the leader knows. Entries are committed before anybody reads them, so no election cuts
// what a consumer has seen: the answer always reaches up to its position.
#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::offset_for_leader_epoch_response;

}  // namespace

answer_of<protocol::offset_for_leader_epoch_response> offset_for_leader_epoch(
    request_ptr context, protocol::offset_for_leader_epoch_request request) {
  context->accept();  // a read has no place in the order of writes
  offset_for_leader_epoch_response response;
  const metadata::image_ptr image = context->broker.image();
  std::vector<braid::epoch_query> queries;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of each query: topic, partition
  for (const auto& topic : request.topics) {
    auto& answers = response.topics.emplace_back();
    answers.topic = topic.topic;
    const metadata::topic_image* found = image->find(topic.topic);
    for (const auto& asked : topic.partitions) {
      auto& answer = answers.partitions.emplace_back();
      answer.partition = asked.partition;
      const std::int32_t index = asked.partition.value();
      if (found == nullptr || index < 0 || index >= found->partitions) {
        answer.error_code = error_code::unknown_topic_or_partition;
        continue;
      }
      queries.push_back({{found->id, asked.partition}, asked.leader_epoch, asked.current_leader_epoch});
      places.emplace_back(response.topics.size() - 1, answers.partitions.size() - 1);
    }
  }
  if (queries.empty()) co_return response;
  using answers = std::vector<braid::epoch_answer>;
  auto ask = [queries = std::move(queries)](braid::replica& braid, unique_function<void(answers)> done) {
    answers all;
    all.reserve(queries.size());
    for (const braid::epoch_query& query : queries) all.push_back(braid.find_epoch_end(query));
    done(std::move(all));
  };
  const answers all = co_await on_braid<answers>(context, std::move(ask));
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto& answer = response.topics[places[i].first].partitions[places[i].second];
    answer.error_code = wire_error(all[i].error);
    if (all[i].error) continue;
    answer.leader_epoch = all[i].found.epoch;
    answer.end_offset = all[i].found.end;
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
